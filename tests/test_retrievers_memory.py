"""Vectors in memory: kinds of embeddings, failing embedders, the cache of query vectors."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from tests.small_retrievers import CHUNKS, Chunk, config, embed, ids, vector
from zerda_bench import VectorRetriever


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
        np.array(rows)[:, None, :],
    ]
    for embeddings in kinds:
        for answer in ([1.0, 0.0], np.array([[1.0, 0.0]]), (1, 0)):
            got = VectorRetriever(config(), CHUNKS[:3], embeddings, lambda t, a=answer: a).retrieve("q", 3)
            assert [(r.doc_id, pytest.approx(r.vector_score, abs=1e-7)) for r in got] == expected
    lazily = VectorRetriever(config(), CHUNKS[:3], (row for row in rows), lambda t: [1.0, 0.0]).retrieve("q", 1)
    assert ids(lazily) == ["d0"]
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
    # The same embedder may have learnt from the new chunks, so its old vectors are not kept.
    slow = VectorRetriever(config(), CHUNKS, [embed(c.text) for c in CHUNKS], counting)
    old = slow._state
    slow.index_chunks(CHUNKS, counting)
    slow._query_vector("late", old)  # a reader that began before the indexing, done after it
    calls.clear()
    slow.retrieve("late", 1)
    assert calls == ["late"]
    uncached = VectorRetriever(config(query_cache_size=0), CHUNKS, [embed(c.text) for c in CHUNKS], counting)
    calls.clear()
    uncached.retrieve("a1", 1)
    uncached.retrieve("a1", 1)
    assert calls == ["a1", "a1"]
