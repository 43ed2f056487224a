"""zerda_bench/sparse.py and its kernels against tests/naive/bm25.py, to the last bit."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import bm25 as naive
from zerda_bench.hits import Hits
from zerda_bench.kernels import bm25
from zerda_bench.sparse import BM25Index

WORDS = ["fox", "dog", "cat", "قطة", "كلب", "ثعلب", "bm25", "العربية"]
DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=25)
QUERIES = st.lists(st.lists(st.sampled_from([*WORDS, "absent"]), max_size=8), min_size=1, max_size=6)


def pairs(hits: Hits, query: int = 0) -> list[tuple[int, float]]:
    ids, scores = hits.row(query)
    return list(zip(ids.tolist(), scores.tolist(), strict=True))


@given(
    DOCUMENTS,
    QUERIES,
    st.integers(0, 30),
    st.sampled_from([0.0, 0.9, 1.5, 100.0]),
    st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)
def test_search_equals_the_naive_twin(documents, queries, k, k1, b) -> None:
    index = BM25Index.from_tokens(documents, k1=k1, b=b)
    hits = index.search([" ".join(query) for query in queries], k)
    assert hits.width == min(k, len(documents))
    for i, query in enumerate(queries):
        assert pairs(hits, i) == naive.search(documents, query, k, k1, b)


@given(DOCUMENTS, QUERIES, st.integers(1, 30), st.data())
def test_filters_never_leak_and_fill_up(documents, queries, k, data) -> None:
    index = BM25Index.from_tokens(documents)
    n = len(documents)
    texts = [" ".join(query) for query in queries]
    allowed = [
        data.draw(st.none() | st.sets(st.integers(0, n - 1) if n else st.nothing(), max_size=n)) for _ in queries
    ]
    got = index.search(texts, k, allow=allowed)
    for i, query in enumerate(queries):
        assert pairs(got, i) == naive.search(documents, query, k, allow=allowed[i])
    masks = np.array([[a is None or d in a for d in range(n)] for a in allowed], bool).reshape(len(queries), n)
    by_mask = index.search(texts, k, allow=masks)
    assert np.array_equal(by_mask.ids, got.ids)
    assert np.array_equal(by_mask.scores, got.scores)


@pytest.mark.parametrize("n_docs", [bm25.WINDOW - 1, bm25.WINDOW, bm25.WINDOW + 1, 2 * bm25.WINDOW + 5])
def test_window_boundaries(n_docs: int) -> None:
    """Documents on both sides of every window boundary, scores tied throughout."""
    rng = np.random.default_rng(n_docs)
    documents = [["x"] * int(tf) + ["y"] * (1 + doc % 3) for doc, tf in enumerate(rng.integers(0, 3, n_docs))]
    index = BM25Index.from_tokens(documents)
    lengths = [len(d) for d in documents]
    avgdl = sum(lengths) / n_docs
    scores = np.zeros(n_docs)
    for term in ("xx", "y"):  # "xx": absent
        df = sum(term in d for d in documents)
        if df:
            idf = math.log((n_docs - df + 0.5) / (df + 0.5) + 1.0)
            tfs = [float(d.count(term)) for d in documents]
            scores += [
                idf * (tf * 2.5 / (tf + 1.5 * (1.0 - 0.75 + 0.75 * length / avgdl))) if tf else 0.0
                for tf, length in zip(tfs, lengths, strict=True)
            ]
    order = np.lexsort((np.arange(n_docs), -scores))[:1000]
    ids, best = index.search("xx yy", 1000).row(0)
    assert len(ids) == 0
    index = BM25Index.from_tokens([[t * 2 for t in d] for d in documents])
    ids, best = index.search("yy", 1000).row(0)
    assert np.array_equal(ids, order)
    assert np.array_equal(best, scores[order])


def test_same_answer_for_any_batch_and_thread_count() -> None:
    rng = np.random.default_rng(0)
    vocabulary = [f"w{i}" for i in range(50)]
    documents = [[vocabulary[i] for i in rng.zipf(1.3, 20) % 50] for _ in range(3000)]
    index = BM25Index.from_tokens(documents)
    queries = [" ".join(rng.choice(vocabulary, 5)) for _ in range(200)]
    whole = index.search(queries, 50, n_threads=1)
    for n_threads in (2, 5):
        again = index.search(queries, 50, n_threads=n_threads)
        assert np.array_equal(whole.ids, again.ids)
        assert np.array_equal(whole.scores, again.scores)
    for q in (0, 17, 199):
        assert pairs(index.search(queries[q], 10)) == pairs(whole, q)[:10]
    with ThreadPoolExecutor(8) as pool:
        for q, hits in enumerate(pool.map(lambda query: index.search(query, 50), queries)):
            assert pairs(hits) == pairs(whole, q)


def test_explain_adds_up_to_the_score() -> None:
    index = BM25Index.from_texts(["fox dog fox", "the dog", "قطة", ""])
    for query in ("fox dog fox zebra", "قطة", "dog"):
        hits = index.search(query, 10)
        for doc, score in pairs(hits):
            explanation = index.explain(query, doc)
            assert explanation.score == score
            assert sum(t.contribution for t in explanation.terms) == score
    assert index.explain("fox", 3).score == 0.0
    assert "'fox'" in str(index.explain("fox", 0))
    with pytest.raises(IndexError, match="doc 4"):
        index.explain("fox", 4)


def test_with_parameters_equals_a_rebuild() -> None:
    texts = ["fox dog fox", "the dog", "fox"]
    for k1, b in ((0.9, 0.4), (0.0, 0.0), (1.2, 1.0)):
        rebuilt = BM25Index.from_texts(texts, k1=k1, b=b).search("fox dog", 3)
        derived = BM25Index.from_texts(texts).with_parameters(k1, b).search("fox dog", 3)
        assert np.array_equal(rebuilt.scores, derived.scores)
        assert np.array_equal(rebuilt.ids, derived.ids)


def test_known_values() -> None:
    """Hand-worked: idf of a term in 2 of 4 documents is ln 2; a term in every document still scores above zero."""
    index = BM25Index.from_texts(["fox one", "fox two", "cat", "dog"])
    assert index.idf[index.vocabulary["fox"]] == pytest.approx(math.log(2.0), abs=1e-15)
    everywhere = BM25Index.from_texts(["fox", "fox fox", "fox cat"]).search("fox", 9)
    assert everywhere.counts[0] == 3
    assert (everywhere.scores > 0).all()


@pytest.mark.parametrize("texts", [[], [""], ["", "  ", "\n"], ["a", "!", "،"]])
def test_corpus_without_tokens(texts: list[str]) -> None:
    index = BM25Index.from_texts(texts)
    hits = index.search(["fox", ""], 5)
    assert hits.ids.shape == (2, min(5, len(texts)))
    assert hits.counts.tolist() == [0, 0]
    assert math.isfinite(index.avgdl)


@pytest.mark.parametrize("query", ["", "   ", "a", "?!", "zebra"])
def test_query_without_known_terms_has_no_hits(query: str) -> None:
    assert BM25Index.from_texts(["fox", "dog"]).search(query, 5).counts.tolist() == [0]


def test_batch_shapes() -> None:
    index = BM25Index.from_texts(["fox", "dog fox"])
    assert index.search([], 5).ids.shape == (0, 2)
    assert index.search("fox", 0).ids.shape == (1, 0)
    assert index.search("fox", 10).counts.tolist() == [2]
    ids, scores = index.search(["fox", "cat"], 2)
    assert ids.tolist() == [[0, 1], [-1, -1]]
    assert scores[1].tolist() == [-np.inf, -np.inf]


def test_texts_from_a_generator() -> None:
    assert BM25Index.from_texts(t for t in ["fox", "dog"]).n_docs == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: BM25Index.from_texts(["fox", None]), TypeError, r"texts\[1\] must be a str, not NoneType"),
        (lambda: BM25Index.from_texts([b"fox"]), TypeError, r"texts\[0\] must be a str, not bytes; decode"),
        (lambda: BM25Index.from_texts("fox"), TypeError, "texts must be an iterable of str"),
        (lambda: BM25Index.from_texts(["fox"], k1=-1), ValueError, "k1 must be a finite number"),
        (lambda: BM25Index.from_texts(["fox"], k1=math.nan), ValueError, "k1"),
        (lambda: BM25Index.from_texts(["fox"], b=1.5), ValueError, "b must lie between 0 and 1"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", -1), ValueError, "k must be 0 or greater"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1.5), TypeError, "k must be an integer"),
        (lambda: BM25Index.from_texts(["fox"]).search(None, 1), TypeError, "queries must be a str"),
        (lambda: BM25Index.from_texts(["fox"]).search(b"fox", 1), TypeError, "queries"),
        (lambda: BM25Index.from_texts(["fox"]).search(["fox", 3], 1), TypeError, r"queries\[1\]"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1, allow=[3]), ValueError, "names document 3"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1, allow=[-1]), ValueError, "names document -1"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1, allow=np.ones(2, bool)), ValueError, "mask of 2"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1, allow=[None, None]), ValueError, "2 entries"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1, allow=np.array([0.5])), TypeError, "bool mask"),
        (lambda: BM25Index.from_texts(["fox"]).search("fox", 1, n_threads=0), ValueError, "n_threads"),
    ],
)
def test_bad_arguments_are_named(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


def test_an_empty_id_set_allows_nothing() -> None:
    index = BM25Index.from_texts(["fox", "fox"])
    for allow in (set(), [], np.array([], np.int64), np.zeros(2, bool)):
        assert index.search("fox", 2, allow=allow).counts.tolist() == [0]


def test_filter_reaches_documents_outside_the_global_top_k() -> None:
    index = BM25Index.from_texts(["fox"] * 995 + ["fox and many more words beside it"] * 5)
    assert index.search("fox", 5, allow=set(range(995, 1000))).ids.tolist() == [[995, 996, 997, 998, 999]]
