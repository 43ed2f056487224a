"""Threads, lists of the caller's, pickling, and bad input at the retriever level."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.small_retrievers import CHUNKS, TEXTS, Chunk, config, embed, hybrid, ids, vector
from zerda_bench import (
    BM25Scorer,
    HybridRetriever,
    KeywordRetriever,
    MetadataRetriever,
    RetrieverConfig,
    VectorRetriever,
)


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
    strict = config(filter_mode="strict")
    for retriever in (
        MetadataRetriever(config(), CHUNKS),
        hybrid(),  # has a metadata leg
        KeywordRetriever(strict, CHUNKS),
        vector(strict),
        HybridRetriever(strict, None, KeywordRetriever(strict, CHUNKS)),
    ):
        with pytest.raises(TypeError, match="filters must be a dict"):
            retriever.retrieve("fox", 2, bad)
    # Published: these two do not look at filters.
    assert ids(KeywordRetriever(config(), CHUNKS).retrieve("cow", 1, bad)) == ["d3"]
    assert ids(vector(config()).retrieve("cow", 1, bad)) == ["d3"]


def test_any_mapping_is_a_filter_and_odd_values_match_nothing() -> None:
    filters = MappingProxyType({"lang": "ar"})
    for cfg in (config(use_metadata=True), config(use_metadata=True, filter_mode="strict")):
        assert ids(MetadataRetriever(cfg, CHUNKS).retrieve("q", 9, filters)) == ["d4", "d5"]
    strict = config(filter_mode="strict")
    assert ids(KeywordRetriever(strict, CHUNKS).retrieve("fox", 9, filters)) == ["d5", "d4"]
    odd = [
        Chunk("a", "array", {"p": np.array([1, 2])}),
        Chunk("b", "missing", {"p": pd.NA}),
        Chunk("c", "one", {"p": 1}),
    ]
    for wanted in (1, [1]):
        assert ids(MetadataRetriever(config(), odd).retrieve("q", 9, {"p": wanted})) == ["one"]


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
