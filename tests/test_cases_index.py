"""Cases distilled from public bug reports that concern the index level, by their number there.

Those that a test elsewhere covers in general: A1-A6, A10, D1-D3 in test_bm25_index.py; C5, E1, E2, E4 in
test_vector_index.py; C1, C2 in both; I1, I5 in test_kernel_cache.py.
"""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from zerda_bench.dense import VectorIndex
from zerda_bench.kernels import bm25, cosine, postings
from zerda_bench.sparse import BM25Index


def test_a7_a_document_equal_to_the_query_ranks_first_though_its_terms_are_everywhere() -> None:
    hits = BM25Index.from_texts(["red fox and more", "red fox", "red and fox"]).search("red fox", 3)
    assert hits.ids[0, 0] == 1
    assert (hits.scores > 0).all()


def test_a11_a_repeated_query_term_counts_twice() -> None:
    index = BM25Index.from_texts(["red fox", "blue fox", "red red"])
    once, twice = index.search("red", 3), index.search("red red", 3)
    assert np.array_equal(twice.scores, once.scores * 2)
    assert np.array_equal(twice.ids, once.ids)


def test_a16_one_document_and_a_query_longer_than_it() -> None:
    hits = BM25Index.from_texts(["fox"]).search("fox " * 50 + "dog", 3)
    assert hits.ids.tolist() == [[0]]


def test_a17_queries_go_through_the_analyzer_of_the_index() -> None:
    index = BM25Index.from_texts(["Italies", "running"], analyzer="english")
    assert index.search("run runs", 2).row(0)[0].tolist() == [1]


def test_a19_the_index_is_linear_in_postings() -> None:
    """No document-by-vocabulary matrix: 3,000 documents of 20 words each, nearly all words distinct."""
    index = BM25Index.from_tokens([f"w{(d * 20 + i) % 50_000}" for i in range(20)] for d in range(3000))
    assert index.n_postings == 60_000
    assert index.nbytes < 16 * index.n_postings + 32 * (index.n_docs + len(index.vocabulary))


def test_c7_nan_can_neither_enter_nor_come_first() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="row 1 holds NaN or infinity"):
            VectorIndex([[1.0, 0.0], [bad, 1.0]])


def test_d6_filters_of_any_number_of_ids() -> None:
    index = BM25Index.from_tokens([["fox"]] * 50_000)
    allowed = set(range(1, 50_000, 1))
    assert index.search("fox", 3, allow=allowed).ids.tolist() == [[1, 2, 3]]
    assert index.search("fox", 50_000, allow=allowed).counts.tolist() == [49_999]


@pytest.mark.parametrize(
    "kernel", [bm25.search, bm25.impacts, cosine.search, postings.fill, postings.document_frequencies]
)
def test_i7_each_kernel_has_one_signature_whatever_the_input(kernel, tmp_path) -> None:
    """Fresh, read-only, memory-mapped, unpickled: nothing compiles twice."""
    vectors = np.random.default_rng(0).standard_normal((40, 6))
    np.save(tmp_path / "v.npy", vectors.astype(np.float32))
    for kind in (
        vectors,
        np.load(tmp_path / "v.npy", mmap_mode="r"),
        vectors.astype(np.float16),
        np.asfortranarray(vectors),
    ):
        index = pickle.loads(pickle.dumps(VectorIndex(kind)))  # noqa: S301
        index.search(kind[0], 3)
        index.search(kind, 50, allow=[1, 2], min_score=0)
    for texts in (["fox dog", "dog"], ["x"], []):
        sparse = pickle.loads(pickle.dumps(BM25Index.from_texts(texts, k1=1, b=0)))  # noqa: S301
        sparse.search(["fox", ""], 3)
        sparse.with_parameters(2, 1).search("dog", 3, allow=np.ones(len(texts), bool))
    stored = {signature[0].dtype for signature in kernel.signatures}  # cosine: float32, and float64 by choice
    assert len(kernel.signatures) == len(stored) <= (2 if kernel is cosine.search else 1)


def _search_in_child(index: BM25Index) -> list[int]:
    return index.search("fox", 3).row(0)[0].tolist()


def test_i9_indexes_pickle_after_use_and_work_in_a_spawned_process() -> None:
    index = BM25Index.from_texts(["fox", "dog", "fox dog"])
    index.search("fox", 3)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(_search_in_child, index).result(timeout=120) == [0, 2]
    again = pickle.loads(pickle.dumps(index))  # noqa: S301
    assert not again.doc_lengths.flags.writeable
