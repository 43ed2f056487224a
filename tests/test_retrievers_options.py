"""Options of the retrievers, merging of duplicates, results of legs that are not ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.small_retrievers import CHUNKS, TEXTS, Chunk, config, hybrid, ids, vector
from zerda_bench import (
    BM25Scorer,
    HybridRetriever,
    KeywordRetriever,
    MetadataRetriever,
    RetrieverConfig,
    ScoredChunk,
    VectorRetriever,
)


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

    for depth, expected in ((None, [20, 20, 10]), (5, [20, 20, 10]), (15, [20, 20, 15]), (100, [100, 100, 100])):
        asked.clear()
        cfg = config(candidate_depth=depth, use_metadata=True)
        HybridRetriever(cfg, Leg(), Leg(), Leg()).retrieve("q", 10, {"lang": "en"})
        assert asked == expected
    asked.clear()
    HybridRetriever(config(candidate_depth=100), Leg()).retrieve("q", -1)  # a slice, not a number of results
    assert asked == [-2]


def test_keyword_hits_get_their_true_similarity() -> None:
    vectors = [np.ones(2)] * 5
    texts = ["a0", "a1", "a2", "needle", "a4"]
    chunks = [Chunk(t, t) for t in texts]
    for exact, expected in ((False, 0.0), (True, 1.0)):
        cfg = config(vector_weight=0.1, keyword_weight=0.9, score_keyword_hits_exactly=exact)
        vec = VectorRetriever(cfg, chunks, vectors, lambda t: np.ones(2))
        top = HybridRetriever(cfg, vec, KeywordRetriever(cfg, chunks)).retrieve("needle", 1)[0]
        assert (top.doc_id, top.vector_score) == ("needle", pytest.approx(expected))


def test_true_similarities_go_by_content_hash() -> None:
    """As merging does: the keyword leg may hold other objects, and of equal texts the best counts."""
    vectors = [[0.0, 1.0], [0.6, 0.8], [1.0, 0.0]]
    cfg = config(keyword_weight=9.0, score_keyword_hits_exactly=True, min_vector_score=0.7)
    indexed = [Chunk("Needle", "a"), Chunk("needle ", "b"), Chunk("hay", "c")]
    vec = VectorRetriever(cfg, indexed, vectors, lambda t: [0.6, 0.8])
    keyword = KeywordRetriever(cfg, [Chunk("NEEDLE", "copy"), Chunk("needle in other words", "unknown")])
    alone = HybridRetriever(cfg, None, keyword).retrieve("needle", 5)
    assert [r.vector_score for r in alone] == [0.0, 0.0]
    keys = [r.content_hash for r in alone]
    assert vec.similarities("q", keys) == [pytest.approx(1.0), 0.0]
    assert vec.similarities("q", []) == []
    # Below min_vector_score a chunk has no similarity, as in the vector leg itself.
    hay = HybridRetriever(cfg, None, KeywordRetriever(cfg, indexed[2:])).retrieve("hay", 1)[0]
    assert vec.similarities("q", [hay.content_hash]) == [0.0]


def test_each_result_knows_its_rank_in_every_leg() -> None:
    for result in hybrid().retrieve("fox dog", 6, {"lang": "ar"}):
        assert set(result.leg_ranks) <= {"vector", "keyword", "metadata"}
        assert ("metadata" in result.leg_ranks) == (result.chunk.metadata["lang"] == "ar")
    first = hybrid().retrieve("fox dog", 1)[0]
    assert first.leg_ranks == {"vector": 1, "keyword": 1}
    assert dict(ScoredChunk(CHUNKS[0]).leg_ranks) == {}
    assert ScoredChunk(CHUNKS[0]).char_count == len(TEXTS[0])


def test_rrf_bonus_can_be_discarded() -> None:
    top = hybrid(rrf_bonus=False).retrieve("fox dog", 1)[0]
    assert top.composite_score == pytest.approx(0.6 * top.vector_score + 0.3 * top.keyword_score)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter_policy": "guess"}, "filter_policy must be one of"),
        ({"candidate_depth": 0}, "candidate_depth must be an integer of at least 1, got 0"),
        ({"query_cache_size": -1}, "query_cache_size must be an integer of at least 0, got -1"),
        ({"vector_weight": float("nan")}, "vector_weight must be a finite number"),
        ({"min_vector_score": float("nan")}, "min_vector_score must be a number"),
        ({"candidate_depth": 2.5}, "candidate_depth must be an integer of at least 1, got 2.5"),
        ({"query_cache_size": None}, "query_cache_size must be an integer"),
        ({"rrf_bonus": "no"}, "rrf_bonus must be one of True, False, got 'no'"),
        ({"pad_with_zero_scores": None}, "pad_with_zero_scores must be one of"),
        ({"score_keyword_hits_exactly": "yes"}, "score_keyword_hits_exactly must be one of"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrieverConfig(**options)


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
    assert [r.leg_ranks for r in got] == [{"vector": 1}, {"vector": 2}]
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
