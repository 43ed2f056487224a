"""The retriever classes beyond the published cases: options, strict filters, stores, threads, bad input."""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from zerda_bench import (
    BM25Scorer,
    ContextEngineConfig,
    HybridRetriever,
    KeywordRetriever,
    MetadataRetriever,
    RetrieverConfig,
    ScoredChunk,
    VectorRetriever,
)


@dataclass
class Chunk:
    text: str
    doc_id: str = ""
    metadata: Any = field(default_factory=dict)


TEXTS = ["fox dog", "fox cat", "dog dog", "cow", "القاهرة عاصمة مصر", "fox مصر"]
CHUNKS = [Chunk(t, f"d{i}", {"lang": "ar" if i > 3 else "en", "page": i % 2}) for i, t in enumerate(TEXTS)]


def embed(text: str) -> np.ndarray:
    vector = np.zeros(8)
    for word in text.split():
        vector[sum(map(ord, word)) % 8] += 1.0
    return vector


def config(**options: Any) -> ContextEngineConfig:
    return ContextEngineConfig(retriever=RetrieverConfig(**options))


def vector(cfg: ContextEngineConfig, chunks: list[Chunk] = CHUNKS) -> VectorRetriever:
    return VectorRetriever(cfg, chunks, [embed(c.text) for c in chunks], embed)


def hybrid(**options: Any) -> HybridRetriever:
    cfg = config(use_metadata=True, **options)
    return HybridRetriever(cfg, vector(cfg), KeywordRetriever(cfg, CHUNKS), MetadataRetriever(cfg, CHUNKS))


def ids(results: list[ScoredChunk]) -> list[str]:
    return [result.doc_id for result in results]


# ---------------------------------------------------------------- options


def test_matches_only() -> None:
    assert ids(KeywordRetriever(config(pad_with_zero_scores=False), CHUNKS).retrieve("dog", 6)) == ["d2", "d0"]
    assert KeywordRetriever(config(pad_with_zero_scores=False), CHUNKS).retrieve("zebra", 6) == []
    scorer = BM25Scorer(pad_with_zero_scores=False)
    scorer.index(TEXTS)
    assert [doc for doc, _ in scorer.score("dog", 6)] == [2, 0]
    assert [doc for doc, _ in scorer.score("dog", -1)] == [2]
    assert [doc for doc, _ in scorer.score("dog", None)] == [2, 0]


@pytest.mark.parametrize("query", ["fox dog", "مصر", "zebra", ""])
@pytest.mark.parametrize("filters", [{"lang": "ar"}, {"lang": ["ar"], "page": 0}, {"page": [0, 1]}, {"absent": 1}])
def test_strict_filters_exclude_on_every_leg(query: str, filters: dict[str, Any]) -> None:
    passing = {
        c.doc_id
        for c in CHUNKS
        if all(c.metadata.get(k) in (v if isinstance(v, list) else [v]) for k, v in filters.items())
    }
    cfg = config(filter_mode="strict", use_metadata=True, min_vector_score=-1.0)
    for leg in (
        vector(cfg),
        KeywordRetriever(cfg, CHUNKS),
        MetadataRetriever(cfg, CHUNKS),
        hybrid(filter_mode="strict", min_vector_score=-1.0),
    ):
        for k in (1, 2, 6):
            found = ids(leg.retrieve(query, k, filters))
            assert set(found) <= passing
            # Filters come before the cut: k results whenever k chunks pass (padding fills the keyword leg up).
            assert len(found) == min(k, len(passing))


def test_strict_filters_hold_for_legs_that_ignore_them() -> None:
    class Careless:
        def retrieve(self, query: str, top_k: int, filters: Any) -> list[ScoredChunk]:
            return [ScoredChunk(c, vector_score=1.0) for c in CHUNKS]

    assert ids(HybridRetriever(config(filter_mode="strict"), Careless()).retrieve("q", 9, {"lang": "ar"})) == [
        "d4",
        "d5",
    ]


def test_a_misspelt_mode_is_refused_even_if_set_later() -> None:
    with pytest.raises(ValueError, match="filter_mode must be one of 'boost', 'strict', got 'strcit'"):
        config(filter_mode="strcit")
    cfg = config()
    cfg.retriever.filter_mode = "strcit"
    with pytest.raises(ValueError, match="filter_mode"):
        KeywordRetriever(cfg, CHUNKS).retrieve("fox", 2, {"lang": "ar"})


def test_candidate_depth_reaches_chunks_beyond_twice_k() -> None:
    asked = []

    class Leg:
        def retrieve(self, query: str, top_k: int, filters: Any) -> list[ScoredChunk]:
            asked.append(top_k)
            return []

    for depth in (None, 5, 100):
        HybridRetriever(config(candidate_depth=depth), Leg()).retrieve("q", 10)
    assert asked == [20, 20, 100]


def test_keyword_hits_get_their_true_similarity() -> None:
    vectors = [np.ones(2)] * 5
    texts = ["a0", "a1", "a2", "needle", "a4"]
    chunks = [Chunk(t, t) for t in texts]
    for exact, expected in ((False, 0.0), (True, 1.0)):
        cfg = config(vector_weight=0.1, keyword_weight=0.9, score_keyword_hits_exactly=exact)
        vec = VectorRetriever(cfg, chunks, vectors, lambda t: np.ones(2))
        top = HybridRetriever(cfg, vec, KeywordRetriever(cfg, chunks)).retrieve("needle", 1)[0]
        assert (top.doc_id, top.vector_score) == ("needle", pytest.approx(expected))


def test_rrf_bonus_can_be_discarded() -> None:
    top = hybrid(rrf_bonus=False).retrieve("fox dog", 1)[0]
    assert top.composite_score == pytest.approx(0.6 * top.vector_score + 0.3 * top.keyword_score)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter_policy": "guess"}, "filter_policy must be one of"),
        ({"candidate_depth": 0}, "candidate_depth must be 1 or greater"),
        ({"query_cache_size": -1}, "query_cache_size must be 0 or greater"),
        ({"vector_weight": float("nan")}, "vector_weight must be a finite number"),
        ({"min_vector_score": float("inf")}, "min_vector_score must be a finite number"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrieverConfig(**options)


# ---------------------------------------------------------------- duplicates and other people's results


def test_a_duplicate_never_lowers_a_score_and_votes_once() -> None:
    first, second, other = Chunk("Fox", "a"), Chunk("fox ", "b"), Chunk("dog", "c")

    class Leg:
        def retrieve(self, query: str, top_k: int, filters: Any) -> list[ScoredChunk]:
            return [
                ScoredChunk(first, vector_score=0.9),
                ScoredChunk(other, vector_score=0.5),
                ScoredChunk(second, vector_score=0.2),
            ]

    got = HybridRetriever(config(), Leg()).retrieve("q", 5)
    assert [(r.doc_id, r.vector_score) for r in got] == [("a", 0.9), ("c", 0.5)]
    assert got[1].composite_score == pytest.approx(0.6 * 0.5 + 0.2 * (1 / 62) / (1 / 61))


def test_results_of_the_legs_are_not_changed() -> None:
    mine = ScoredChunk(CHUNKS[0], vector_score=0.5, composite_score=9.0)

    class Leg:
        def retrieve(self, query: str, top_k: int, filters: Any) -> list[ScoredChunk]:
            return [mine]

    assert HybridRetriever(config(), Leg()).retrieve("q", 1)[0].composite_score == pytest.approx(0.5)
    assert mine.composite_score == 9.0


def test_nan_from_a_foreign_leg_comes_last() -> None:
    class Leg:
        def retrieve(self, query: str, top_k: int, filters: Any) -> list[ScoredChunk]:
            return [ScoredChunk(CHUNKS[0], vector_score=float("nan")), ScoredChunk(CHUNKS[1], vector_score=0.1)]

    assert ids(HybridRetriever(config(), Leg()).retrieve("q", 2)) == ["d1", "d0"]


# ---------------------------------------------------------------- stores


class Store:
    """Returns its pairs best first, as many as asked for; records what it was asked."""

    def __init__(self, pairs: list[tuple[Any, float]]) -> None:
        self.pairs, self.calls = pairs, []

    def search(self, query: str, top_k: int = 5, score_threshold: Any = None, **kwargs: Any) -> list[Any]:
        self.calls.append({"k": top_k, "threshold": score_threshold, **kwargs})
        return self.pairs[:top_k]

    def similarity_search_with_score(self, query: str, k: int = 4, filter: Any = None) -> list[Any]:
        self.calls.append({"k": k, "filter": filter})
        return self.pairs[:k]


class ChromaVectorDatabase(Store):
    """Named as the real one, which takes `filters`."""


class FAISSVectorDatabase(Store):
    """Named as the real one, which takes `doc_id_filter`."""


MANY = [(Chunk(f"t{i}", f"d{i}", {"n": i % 10, "lang": "ar"}), 1.0 - i / 1000) for i in range(500)]


def test_translated_filters_for_chroma() -> None:
    for filters, expected in (
        ({"a": 1}, {"a": 1}),
        ({"a": [1, 2]}, {"a": {"$in": [1, 2]}}),
        ({"a": [1], "b": 2}, {"$and": [{"a": {"$in": [1]}}, {"b": 2}]}),
    ):
        db = ChromaVectorDatabase([])
        VectorRetriever(config(filter_policy="translate"), vector_db=db).retrieve("q", 3, filters)
        assert db.calls[0]["filters"] == expected
        documented = ChromaVectorDatabase([])
        VectorRetriever(config(), vector_db=documented).retrieve("q", 3, filters)
        assert documented.calls[0]["filters"] == filters


def test_filters_that_faiss_lacks_are_applied_here() -> None:
    db = FAISSVectorDatabase(MANY)
    got = VectorRetriever(config(filter_policy="translate"), vector_db=db).retrieve("q", 3, {"n": 9})
    assert ids(got) == ["d9", "d19", "d29"]
    assert [call["k"] for call in db.calls] == [3, 12, 48]
    exhausted = VectorRetriever(config(filter_policy="translate"), vector_db=FAISSVectorDatabase(MANY)).retrieve(
        "q", 60, {"n": 9}
    )
    assert len(exhausted) == 50
    dropped = VectorRetriever(config(), vector_db=FAISSVectorDatabase(MANY)).retrieve("q", 3, {"n": 9})
    assert ids(dropped) == ["d0", "d1", "d2"]


@pytest.mark.parametrize("mode", ["vector_db", "vector_store_adapter"])
def test_strict_filters_are_checked_on_what_a_store_returns(mode: str) -> None:
    retriever = VectorRetriever(config(filter_mode="strict"), **{mode: Store(MANY)})
    assert ids(retriever.retrieve("q", 2, {"n": [4]})) == ["d4", "d14"]
    assert retriever.retrieve("q", 2, {"lang": "en"}) == []
    by_id = VectorRetriever(config(filter_mode="strict"), **{mode: Store(MANY)})
    assert ids(by_id.retrieve("q", 2, {"doc_id": ["d7"]})) == ["d7"]


@pytest.mark.parametrize("mode", ["vector_db", "vector_store_adapter"])
def test_distances_put_the_nearest_first(mode: str) -> None:
    far, near = Chunk("far", "far"), Chunk("near", "near")
    store = Store([(far, 1.9), (near, 0.1)])
    got = VectorRetriever(config(), **{mode: store}, score_kind="distance").retrieve("q", 2)
    assert [(r.doc_id, r.vector_score) for r in got] == [("near", 1 / 1.1), ("far", 1 / 2.9)]
    cosine = VectorRetriever(config(), **{mode: store}, score_kind=lambda d: 1.0 - d).retrieve("q", 2)
    assert (cosine[0].doc_id, cosine[0].vector_score) == ("near", 0.9)
    assert ids(VectorRetriever(config(), **{mode: store}).retrieve("q", 2)) == ["far", "near"]
    with pytest.raises(ValueError, match="score_kind must be"):
        VectorRetriever(config(), **{mode: store}, score_kind="cosine")


@pytest.mark.parametrize("mode", ["vector_db", "vector_store_adapter"])
@pytest.mark.parametrize("answer", [None, [(CHUNKS[0], float("nan"))], [(CHUNKS[0], None)], [(CHUNKS[0],)], ["x"]])
def test_a_malformed_answer_is_a_failure_of_the_store(mode: str, answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    store = Store([])
    store.search = store.similarity_search_with_score = lambda *a, **k: answer
    with caplog.at_level(logging.ERROR, "zerda_bench"):
        assert VectorRetriever(config(), **{mode: store}).retrieve("q", 2) == []
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_index_vector_db_adds_and_attaches() -> None:
    class Database(Store):
        added: list[Any]

        def add(self, chunks: list[Any], embeddings: Any = None) -> None:
            self.added = [chunks, embeddings]

    db, retriever = Database([(CHUNKS[0], 0.5)]), VectorRetriever(config())
    retriever.index_vector_db(CHUNKS[:2], db, embeddings=np.ones((2, 3)))
    assert db.added[0] == CHUNKS[:2]
    assert ids(retriever.retrieve("q", 1)) == ["d0"]
    with pytest.raises(ZeroDivisionError):
        retriever.index_vector_db(CHUNKS[:1], type("Broken", (), {"add": lambda *a, **k: 1 / 0})())


# ---------------------------------------------------------------- vectors in memory


def test_embeddings_of_every_kind() -> None:
    rows = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]
    expected = [("d0", 1.0), ("d1", 0.6), ("d2", 0.0)]
    kinds = [
        rows,
        np.array(rows),
        [np.array(r) for r in rows],
        [np.array([r]) for r in rows],
        np.array(rows, np.float32),
        tuple(map(tuple, rows)),
    ]
    for embeddings in kinds:
        for answer in ([1.0, 0.0], np.array([[1.0, 0.0]]), (1, 0)):
            got = VectorRetriever(config(), CHUNKS[:3], embeddings, lambda t, a=answer: a).retrieve("q", 3)
            assert [(r.doc_id, pytest.approx(r.vector_score, abs=1e-7)) for r in got] == expected
    sparse = VectorRetriever(config(), CHUNKS[:3], [None, [1.0, 0.0], None], lambda t: [1.0, 0.0]).retrieve("q", 3)
    assert [(r.doc_id, r.retrieval_rank) for r in sparse] == [("d1", 1)]


@pytest.mark.parametrize(
    ("embeddings", "message"),
    [
        ([[1.0, 2.0]], "embeddings has 1 entries for 2 chunks"),
        ([[1.0, 2.0], [1.0]], r"embeddings\[1\] has 1 dimensions, embeddings\[0\] has 2"),
        ([[1.0, 2.0], [1.0, float("nan")]], r"embeddings\[1\] holds NaN or infinity"),
        ([None, [float("inf"), 0.0]], r"embeddings\[1\] holds NaN or infinity"),
    ],
)
def test_bad_embeddings_are_refused_at_indexing(embeddings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VectorRetriever(config(), CHUNKS[:2], embeddings, embed)
    retriever = vector(config())
    rows = iter(embeddings)
    if len(embeddings) == 2:
        with pytest.raises(ValueError, match=message):
            retriever.index_chunks(CHUNKS[:2], lambda t: next(rows))
        assert ids(retriever.retrieve("fox", 1)) == ids(vector(config()).retrieve("fox", 1))


def test_a_failing_embedder_leaves_the_old_index_whole() -> None:
    retriever = vector(config())
    before = ids(retriever.retrieve("fox dog", 6))
    calls = []

    def failing(text: str) -> np.ndarray:
        calls.append(text)
        if len(calls) == 2:
            raise RuntimeError("rate limit")
        return embed(text)

    with pytest.raises(RuntimeError, match="rate limit"):
        retriever.index_chunks([Chunk("new one"), Chunk("new two")], failing)
    assert ids(retriever.retrieve("fox dog", 6)) == before


def test_a_query_that_cannot_be_embedded(caplog: pytest.LogCaptureFixture) -> None:
    for bad in (lambda t: 1 / 0, lambda t: [float("nan")] * 8, lambda t: ["x"] * 8):
        caplog.clear()
        retriever = VectorRetriever(config(), CHUNKS, [embed(c.text) for c in CHUNKS], bad)
        with caplog.at_level(logging.WARNING, "zerda_bench"):
            assert retriever.retrieve("fox", 2) == []
        assert [record.levelname for record in caplog.records] == ["WARNING"]
    with pytest.raises(ValueError, match="3 dimensions, but the index has 8"):
        VectorRetriever(config(), CHUNKS, [embed(c.text) for c in CHUNKS], lambda t: [1.0, 2.0, 3.0]).retrieve("q", 1)


def test_query_cache_is_bounded_and_belongs_to_its_embedder() -> None:
    calls: list[str] = []

    def counting(text: str) -> np.ndarray:
        calls.append(text)
        return embed(text)

    retriever = VectorRetriever(config(query_cache_size=2), CHUNKS, [embed(c.text) for c in CHUNKS], counting)
    for query in ("a1", "b1", "a1", "c1", "a1", "b1"):
        retriever.retrieve(query, 1)
    assert calls == ["a1", "b1", "c1", "b1"]
    retriever.index_chunks(CHUNKS, counting)
    calls.clear()
    retriever.retrieve("a1", 1)
    assert calls == ["a1"]
    uncached = VectorRetriever(config(query_cache_size=0), CHUNKS, [embed(c.text) for c in CHUNKS], counting)
    calls.clear()
    uncached.retrieve("a1", 1)
    uncached.retrieve("a1", 1)
    assert calls == ["a1", "a1"]


# ---------------------------------------------------------------- threads, copies, bad input


def test_eight_threads_answer_as_one() -> None:
    retriever = hybrid()
    queries = [f"{a} {b}" for a in ("fox", "dog", "مصر", "zebra") for b in ("cat", "cow", "عاصمة")] * 10
    expected = [[(r.doc_id, r.composite_score) for r in retriever.retrieve(q, 4)] for q in queries]
    fresh = hybrid(query_cache_size=3)
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda q: [(r.doc_id, r.composite_score) for r in fresh.retrieve(q, 4)], queries))
    assert got == expected


def test_readers_see_the_old_index_or_the_new_one() -> None:
    cfg = config(pad_with_zero_scores=False)
    keyword = KeywordRetriever(cfg, [Chunk("fox", "old")] * 1)
    many = [Chunk(f"filler {i}", f"n{i}") for i in range(2000)] + [Chunk("fox", "new")]
    with ThreadPoolExecutor(4) as pool:
        reads = [pool.submit(lambda: ids(keyword.retrieve("fox", 3))) for _ in range(200)]
        keyword.index_chunks(many)
        reads += [pool.submit(lambda: ids(keyword.retrieve("fox", 3))) for _ in range(50)]
    assert {tuple(read.result()) for read in reads} <= {("old",), ("new",)}
    assert ids(keyword.retrieve("fox", 3)) == ["new"]


def test_retrievers_keep_lists_of_their_own() -> None:
    mine = list(CHUNKS)
    retrievers = [vector(config(), mine), KeywordRetriever(config(), mine), MetadataRetriever(config(), mine)]
    before = [ids(r.retrieve("fox", 6, {"lang": "ar"})) for r in retrievers]
    mine.clear()
    assert [ids(r.retrieve("fox", 6, {"lang": "ar"})) for r in retrievers] == before


def test_retrievers_pickle_after_use() -> None:
    cfg = config(use_metadata=True)
    retriever = HybridRetriever(cfg, vector(cfg), KeywordRetriever(cfg, CHUNKS), MetadataRetriever(cfg, CHUNKS))
    expected = [(r.doc_id, r.composite_score) for r in retriever.retrieve("fox dog", 4, {"lang": "en"})]
    again = pickle.loads(pickle.dumps(retriever))  # noqa: S301
    assert [(r.doc_id, r.composite_score) for r in again.retrieve("fox dog", 4, {"lang": "en"})] == expected


@pytest.mark.parametrize("chunks", [[], None, [Chunk("")], [Chunk("   ")], [Chunk(""), Chunk("\n")]])
def test_nothing_to_find(chunks: list[Chunk] | None) -> None:
    cfg = config(pad_with_zero_scores=False, use_metadata=True)
    assert KeywordRetriever(cfg, chunks).retrieve("fox", 3) == []
    assert MetadataRetriever(cfg, chunks).retrieve("fox", 3, {"lang": "en"}) == []
    assert VectorRetriever(cfg, chunks).retrieve("fox", 3) == []
    assert HybridRetriever(cfg, VectorRetriever(cfg, chunks), KeywordRetriever(cfg, chunks)).retrieve("fox", 3) == []


@pytest.mark.parametrize("bad", [None, b"fox", 3])
def test_queries_that_are_no_str(bad: Any) -> None:
    for retriever in (KeywordRetriever(config(), CHUNKS), vector(config()), hybrid()):
        with pytest.raises(TypeError, match="query must be a str"):
            retriever.retrieve(bad, 2)


@pytest.mark.parametrize("bad", [b"fox", 3, ["fox"]])
def test_chunks_whose_text_is_no_str(bad: Any) -> None:
    for index in (
        lambda: KeywordRetriever(config(), [Chunk("a"), Chunk(bad)]),
        lambda: VectorRetriever(config()).index_chunks([Chunk("a"), Chunk(bad)], embed),
    ):
        with pytest.raises(TypeError, match=r"text of chunks\[1\] must be a str"):
            index()


def test_lone_surrogates_are_refused_at_indexing() -> None:
    with pytest.raises(ValueError, match=r"text of chunks\[1\] holds a lone surrogate at position 2"):
        KeywordRetriever(config(), [Chunk("a"), Chunk("ab\ud800")])


@pytest.mark.parametrize("bad", ["lang", [("lang", "ar")], 3])
def test_filters_that_are_no_dict(bad: Any) -> None:
    for retriever in (
        KeywordRetriever(config(), CHUNKS),
        vector(config()),
        MetadataRetriever(config(), CHUNKS),
        hybrid(),
    ):
        with pytest.raises(TypeError, match="filters must be a dict"):
            retriever.retrieve("fox", 2, bad)


@pytest.mark.parametrize("bad", [None, RetrieverConfig()])
def test_a_wrong_config_fails_at_construction(bad: Any) -> None:
    for retriever in (KeywordRetriever, VectorRetriever, MetadataRetriever, HybridRetriever):
        with pytest.raises(AttributeError, match="retriever"):
            retriever(bad)


def test_k1_and_b_can_be_changed_without_indexing_again() -> None:
    scorer = BM25Scorer()
    scorer.index(TEXTS)
    scorer.k1, scorer.b = 0.9, 0.4
    fresh = BM25Scorer(k1=0.9, b=0.4)
    fresh.index(TEXTS)
    assert scorer.score("fox dog") == fresh.score("fox dog")
    for bad in ({"k1": -1.0}, {"b": 1.5}, {"k1": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            BM25Scorer(**bad)
