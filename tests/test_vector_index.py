"""zerda_bench/dense.py and its kernel against tests/naive/cosine.py."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.naive import cosine as naive
from zerda_bench.dense import VectorIndex, unit_vectors
from zerda_bench.hits import Hits
from zerda_bench.kernels import cosine

# Repeated small values make ties and zero rows; the rest spans the range of float64, subnormals and -0.0 included.
COMPONENTS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5]) | st.floats(allow_nan=False, allow_infinity=False)


def pairs(hits: Hits, query: int = 0) -> list[tuple[int, float]]:
    ids, scores = hits.row(query)
    return list(zip(ids.tolist(), scores.tolist(), strict=True))


@st.composite
def vectors_and_queries(draw):
    dim = draw(st.integers(1, 19))
    vectors = draw(hnp.arrays(np.float64, (draw(st.integers(0, 70)), dim), elements=COMPONENTS))
    queries = draw(hnp.arrays(np.float64, (draw(st.integers(1, 5)), dim), elements=COMPONENTS))
    return vectors, queries


@given(vectors_and_queries())
def test_unit_vectors_equal_the_twin_within_one_rounding(case) -> None:
    vectors, _ = case
    ref = np.array([naive.unit(row) for row in vectors.tolist()]).reshape(vectors.shape)
    got = unit_vectors(vectors)
    assert got.dtype == np.float32
    assert np.all(np.abs(got - ref) <= np.spacing(np.abs(ref).astype(np.float32)))


DTYPES = st.sampled_from(["float32", "float64"])


@given(vectors_and_queries(), DTYPES, st.integers(0, 80), st.sampled_from([None, 0.0, 0.5, -1.0, 1.0]), st.data())
def test_search_equals_the_naive_twin(case, dtype, k, min_score, data) -> None:
    vectors, queries = case
    n = len(vectors)
    index = VectorIndex(vectors, dtype=dtype)
    allowed = [data.draw(st.none() | st.sets(st.integers(0, n - 1) if n else st.nothing())) for _ in queries]
    hits = index.search(queries, k, allow=allowed, min_score=min_score)
    units, unit_queries = unit_vectors(vectors, dtype).tolist(), unit_vectors(queries, "float64").tolist()
    bound = -np.inf if min_score is None else min_score
    for i, query in enumerate(unit_queries):
        assert pairs(hits, i) == naive.search(units, query, k, bound, allowed[i])


@pytest.mark.parametrize("dim", [1, 3, 4, 5, 31, 384, 4096])
@pytest.mark.parametrize("n_docs", [1, cosine.TILE - 1, cosine.TILE, cosine.TILE + 1, 200])
def test_tile_and_dimension_boundaries(dim: int, n_docs: int) -> None:
    rng = np.random.default_rng(dim * n_docs)
    vectors, query = rng.standard_normal((n_docs, dim)), rng.standard_normal(dim)
    hits = VectorIndex(vectors).search(query, 10)
    ref = naive.search(unit_vectors(vectors).tolist(), unit_vectors(query, "float64")[0].tolist(), 10)
    assert pairs(hits) == ref
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    assert hits.scores[0, 0] == pytest.approx(cosines.max(), abs=1e-6)


def test_same_answer_for_any_k_batch_and_thread_count() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((500, 32)).astype(np.float32)
    vectors[300:400] = vectors[100:200]  # ties
    queries = rng.standard_normal((300, 32)).astype(np.float32)
    index = VectorIndex(vectors)
    whole = index.search(queries, 40, n_threads=1)
    for n_threads in (2, 7):
        again = index.search(queries, 40, n_threads=n_threads)
        assert np.array_equal(whole.ids, again.ids)
        assert np.array_equal(whole.scores, again.scores)
    with ThreadPoolExecutor(8) as pool:
        for q, hits in enumerate(pool.map(lambda query: index.search(query, 7), queries)):
            assert pairs(hits) == pairs(whole, q)[:7]


def test_input_kinds_give_one_answer() -> None:
    rows = [[1, 2], [3, -1], [0, 5]]
    ref = VectorIndex(np.array(rows, np.float64)).search([1.0, 1.0], 3)
    read_only = np.array(rows, np.float32)
    read_only.flags.writeable = False
    kinds = [rows, np.array(rows), np.array(rows, np.float16), np.asfortranarray(np.array(rows, np.float32))]
    for vectors in (*kinds, read_only, np.array(rows, np.float32).repeat(2, axis=0)[::2]):
        got = VectorIndex(vectors).search([1.0, 1.0], 3)
        assert np.array_equal(got.ids, ref.ids)
        assert np.array_equal(got.scores, ref.scores)


def test_zero_vectors_score_zero() -> None:
    index = VectorIndex([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert pairs(index.search([1.0, 0.0], 3)) == [(1, 1.0), (0, 0.0), (2, -1.0)]
    assert pairs(index.search([0.0, 0.0], 3)) == [(0, 0.0), (1, 0.0), (2, 0.0)]


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 2e307])
def test_scale_does_not_matter(scale: float) -> None:
    scores = VectorIndex(np.array([[3.0, 4.0], [4.0, -3.0]]) * scale).search(np.array([3.0, 4.0]) * scale, 2).scores
    assert scores[0] == pytest.approx([1.0, 0.0], abs=1e-4 if scale < 1e-300 else 1e-7)


def test_float64_keeps_the_precision_of_its_input() -> None:
    rng = np.random.default_rng(3)
    vectors, query = rng.standard_normal((200, 24)), rng.standard_normal(24)
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    hits = VectorIndex(vectors, dtype="float64").search(query, 200)
    assert np.abs(hits.scores[0] - cosines[hits.ids[0]]).max() < 1e-15


def test_half_precision_does_not_collapse_scores() -> None:
    """Cosines that float16 arithmetic would call equal stay apart."""
    angles = np.array([0.0, 0.004, 0.008])
    scores = VectorIndex(np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float16)).search([1.0, 0.0], 3).scores
    assert len(set(scores[0].tolist())) == 3


def test_self_similarity_never_exceeds_one() -> None:
    vectors = np.random.default_rng(2).standard_normal((300, 50)).astype(np.float32)
    scores = VectorIndex(vectors).search(vectors, 1).scores
    assert scores.max() <= 1.0
    assert scores.min() > 1.0 - 1e-6


def test_empty_index_and_shapes() -> None:
    assert VectorIndex([]).search([[1.0, 2.0]], 3).ids.shape == (1, 0)
    assert VectorIndex(np.zeros((0, 4))).n_docs == 0
    assert VectorIndex([[1.0, 2.0]]).search(np.zeros((0, 2)), 3).ids.shape == (0, 1)
    assert VectorIndex([[1.0, 2.0]]).search([1.0, 2.0], 0).ids.shape == (1, 0)


def test_vector_gives_back_the_unit_vector() -> None:
    index = VectorIndex([[3.0, 4.0], [0.0, 0.0]])
    assert index.vector(0).tolist() == np.array([0.6, 0.8], np.float32).tolist()
    assert index.vector(1).tolist() == [0.0, 0.0]
    with pytest.raises(IndexError, match="doc 2"):
        index.vector(2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: VectorIndex([[1.0, np.nan]]), ValueError, "vectors row 0 holds NaN or infinity"),
        (lambda: VectorIndex([[1.0, 0.0], [np.inf, 0.0]]), ValueError, "vectors row 1"),
        (lambda: VectorIndex([[1.0], [1.0, 2.0]]), ValueError, "rows of one length"),
        (lambda: VectorIndex(np.zeros((2, 2, 2))), ValueError, "two-dimensional"),
        (lambda: VectorIndex([["a"]]), TypeError, "real numbers"),
        (lambda: VectorIndex([[1j]]), TypeError, "real numbers"),
        (lambda: VectorIndex([[1.0]], metric="taxicab"), ValueError, "metric"),
        (lambda: VectorIndex([[1.0]], dtype="float16"), ValueError, "dtype"),
        (lambda: VectorIndex([[1.0, 0.0]]).search([1.0], 1), ValueError, "1 dimensions, but the index has 2"),
        (lambda: VectorIndex([[1.0, 0.0]]).search([1.0, np.nan], 1), ValueError, "queries row 0"),
        (lambda: VectorIndex([[1.0, 0.0]]).search([1.0, 0.0], -1), ValueError, "k must be 0 or greater"),
        (lambda: VectorIndex([[1.0, 0.0]]).search([1.0, 0.0], 1, min_score=np.nan), ValueError, "min_score"),
        (lambda: VectorIndex([[1.0, 0.0]]).search([1.0, 0.0], 1, allow=np.ones((2, 1), bool)), ValueError, "allow"),
        (lambda: VectorIndex([[1.0, 0.0]]).search([1.0, 0.0], 1, allow={1}), ValueError, "names document 1"),
    ],
)
def test_bad_arguments_are_named(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()
