"""Native vector databases and LangChain-style stores: filters, kinds of score, malformed answers."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from tests.small_retrievers import CHUNKS, Chunk, config, ids
from zerda_bench import HybridRetriever, KeywordRetriever, VectorRetriever
from zerda_bench.retrievers import backends


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


@pytest.mark.parametrize("native", [[("lang", "ar")], lambda metadata: True])
def test_filters_in_a_store_s_own_terms_reach_it_as_they_are(native: Any) -> None:
    for mode, keyword in (("vector_db", "filters"), ("vector_store_adapter", "filter")):
        store = ChromaVectorDatabase(MANY)
        cfg = config(use_metadata=False)
        retriever = HybridRetriever(cfg, VectorRetriever(cfg, **{mode: store}), KeywordRetriever(cfg, CHUNKS))
        assert retriever.retrieve("q", 2, native) != []
        assert store.calls[0][keyword] is native
        # What we would have to understand, we do not guess at.
        for options in ({"filter_mode": "strict"}, {"filter_policy": "translate"}):
            if mode == "vector_db" or "filter_mode" in options:
                with pytest.raises(TypeError, match="filters must be a dict"):
                    VectorRetriever(config(**options), **{mode: store}).retrieve("q", 2, native)


def test_a_store_that_ignores_how_many_are_asked_for() -> None:
    class Fixed(Store):
        def search(self, query: str, top_k: int = 5, score_threshold: Any = None) -> list[Any]:
            self.calls.append(top_k)
            return self.pairs

    store = Fixed(MANY)
    got = VectorRetriever(config(filter_mode="strict"), vector_db=store).retrieve("q", 60, {"n": 9})
    assert len(got) == 50
    assert store.calls == [60, 240, 960][: len(store.calls)]


def test_candidates_beyond_the_limit_are_not_silently_given_up(caplog: pytest.LogCaptureFixture, monkeypatch) -> None:
    monkeypatch.setattr(backends, "_MOST_CANDIDATES", 40)
    retriever = VectorRetriever(config(filter_mode="strict"), vector_db=Store(MANY))
    with caplog.at_level(logging.WARNING, "zerda_bench"):
        assert len(retriever.retrieve("q", 20, {"n": 9})) == 8
    assert "only the best 80 candidates were filtered; 8 of 20 passed" in caplog.text


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
    for nothing in ([], None):
        db.added = []
        attached = VectorRetriever(config())
        attached.index_vector_db(nothing, db)
        assert db.added == []
        assert ids(attached.retrieve("q", 1)) == ["d0"]
    with pytest.raises(ZeroDivisionError):
        retriever.index_vector_db(CHUNKS[:1], type("Broken", (), {"add": lambda *a, **k: 1 / 0})())
