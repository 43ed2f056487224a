"""Fusion at the edges: duplicates, three legs, tiny, huge and constant scores, exact names, blocks of queries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import fusion as naive
from zerda_bench.fusion import NORMALISATIONS, Pool, default_methods, explain, fuse, parse_method
from zerda_bench.hits import Hits

SCALE_FREE = [norm for norm in NORMALISATIONS if norm != "tmm"]
ANY_LEGS = [
    "rrf(k=60)",
    "isr",
    "borda",
    "condorcet",
    "convex(norm=minmax,weights=1:2:3)",
    *(f"{family}(norm=minmax)" for family in ("combsum", "combmnz", "combanz", "combmax", "combmin", "combmed")),
]


def one(row: list[tuple[int, float]]) -> Hits:
    """A batch of one query."""
    return Hits.from_rows([([doc for doc, _ in row], [score for _, score in row])])


def scores_by_doc(hits: Hits, query: int = 0) -> dict[int, float]:
    ids, scores = hits.row(query)
    return dict(zip(ids.tolist(), scores.tolist(), strict=True))


@st.composite
def lists_with_repeats(draw):
    """Documents may stand twice; scores fall."""
    docs = draw(st.lists(st.integers(0, 6), max_size=8))
    values = sorted(draw(st.lists(st.floats(-5, 5), min_size=len(docs), max_size=len(docs))), reverse=True)
    return list(zip(docs, values, strict=True))


@pytest.mark.parametrize("name", ANY_LEGS)
@given(st.tuples(lists_with_repeats(), lists_with_repeats(), lists_with_repeats()))
def test_three_legs_with_repeats_equal_the_twin(name, rows) -> None:
    method = parse_method(name)
    legs = dict(zip("abc", rows, strict=True))
    ref = naive.fuse(legs, method.family, dict(method.parameters))
    got = scores_by_doc(fuse({leg: one(row) for leg, row in legs.items()}, method, 99))
    assert got.keys() == ref.keys()
    assert [got[doc] for doc in ref] == pytest.approx(list(ref.values()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("norm", SCALE_FREE)
@pytest.mark.parametrize("score", [0.1, 0.0, -0.3, 1e-310, 1e200])
@pytest.mark.parametrize("n", [1, 3, 7])
def test_f6_constant_legs_are_constant_under_every_norm(norm: str, score: float, n: int) -> None:
    """Three times 0.1 has a mean that is not 0.1: rounding must not be taken for a deviation."""
    got = scores_by_doc(fuse({"a": one([(doc, score) for doc in range(n)])}, f"combsum(norm={norm})", n))
    if norm == "rank":
        expected = [1 - i / n for i in range(n)]
    else:
        expected = [{"minmax": 1.0, "zscore": 0.0, "max": float(np.sign(score)), "sum": 1 / n, "dbsf": 0.5}[norm]] * n
    assert list(got.values()) == expected


@pytest.mark.parametrize("norm", ["minmax", "zscore", "sum", "dbsf", "rank"])
@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e-12, 1e155, 1e299])
def test_the_scale_of_scores_does_not_matter(norm: str, unit: float) -> None:
    def fused(scale: float) -> dict[int, float]:
        return scores_by_doc(
            fuse({"a": one([(0, 4 * scale), (1, scale), (2, -2 * scale)])}, f"combsum(norm={norm})", 3)
        )

    assert fused(unit) == pytest.approx(fused(1.0))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e308])
def test_f11_scores_that_cannot_be_reckoned_with(wrong: float) -> None:
    legs = {"bm25": one([(0, 2.0)]), "dense": one([(1, wrong), (2, 0.0)])}
    for method in default_methods():
        if method.family in ("rrf", "isr", "borda", "condorcet") or method.parameters.get("norm") == "rank":
            assert len(method.fuse(Pool.from_legs(legs), 9).row(0)[0]) == 3
        else:
            with pytest.raises(ValueError, match="leg 'dense' has scores"):
                fuse(legs, method, 9)


def test_tmm_refuses_scores_below_the_floor() -> None:
    for name, floor in (("bm25", 0.0), ("dense", -1.0)):
        at_the_floor = fuse({name: one([(0, floor + 2), (1, floor)])}, "combsum(norm=tmm)", 2)
        assert at_the_floor.scores[0].tolist() == [1.0, 0.0]
        with pytest.raises(ValueError, match=f"'{name}' to be {floor:g} at least, but one is {floor - 1:g}"):
            fuse({name: one([(0, floor), (1, floor - 1)])}, "combsum(norm=tmm)", 2)


@pytest.mark.parametrize("name", ["zerda", "zerda-documented"])
def test_zerda_leaves_out_what_its_retriever_drops(name: str) -> None:
    legs = {"bm25": one([(0, 2.0), (1, 1.0)]), "dense": one([(2, 0.5), (3, 0.0), (1, -0.1), (4, -0.2)])}
    got = scores_by_doc(fuse(legs, name, 9))
    assert got.keys() == {0, 1, 2, 3}
    assert explain(legs, name, 0, 4).score == -np.inf
    assert explain(legs, name, 0, 1).legs[1].share == 0.0


def test_an_explanation_shows_rank_score_normalised_score_and_share() -> None:
    legs = {"bm25": one([(0, 4.0), (1, 3.0), (2, 2.0)]), "dense": one([(1, 0.9), (3, 0.1)])}
    sparse, dense = explain(legs, "convex(norm=minmax,alpha=0.25)", 0, 1).legs
    assert (sparse.leg, sparse.rank, sparse.score, sparse.normalised, sparse.share) == ("bm25", 2, 3.0, 0.5, 0.375)
    assert (dense.leg, dense.rank, dense.score, dense.normalised, dense.share) == ("dense", 1, 0.9, 1.0, 0.25)
    assert explain(legs, "rrf(k=60)", 0, 3).legs[0].normalised is None


def test_zerda_without_positive_bm25_scores() -> None:
    got = scores_by_doc(fuse({"bm25": one([(0, 0.0), (1, -3.0)]), "dense": one([(1, 0.5)])}, "zerda-documented", 9))
    assert got == {1: 0.5 * 0.6, 0: 0.0}


@pytest.mark.parametrize("value", ["60.00000012", "0.1", "1e-07", "100000.5", "60"])
def test_names_keep_every_digit(value: str) -> None:
    method = parse_method(f"rrf(k={value})")
    assert parse_method(str(method)) == method
    assert method.parameters["k"] == float(value)
    weighted = parse_method(f"rrf(k=60,weights={value}:1)")
    assert parse_method(str(weighted)) == weighted
    assert len({method, parse_method(str(method)), weighted}) == 2


def test_weights_whose_sum_overflows() -> None:
    with pytest.raises(ValueError, match="weights"):
        parse_method("rrf(weights=1e308:1e308)")


def test_document_indices_must_fit() -> None:
    with pytest.raises(ValueError, match="leg 'a' names document -2"):
        fuse({"a": one([(-2, 1.0)])}, "isr", 1)
    with pytest.raises(ValueError, match="leg 'a' names document 9223372036854775807"):
        fuse({"a": one([(2**63 - 1, 1.0)])}, "isr", 1)
    assert fuse({"a": one([(2**61, 1.0)]), "b": one([])}, "isr", 1).ids.tolist() == [[2**61]]


def test_queries_of_many_sizes_fall_into_parts_without_a_seam() -> None:
    """Long, short and empty lists; more entries than one part holds, and one query longer than a part."""
    rng = np.random.default_rng(7)
    sizes = [0, 0, 20_000, 3, 0, 9_000, 9_000, *rng.integers(0, 50, 300).tolist(), 0]
    legs = {
        name: Hits.from_rows([(rng.permutation(30_000)[:n], -np.sort(-rng.random(n))) for n in sizes])
        for name in ("bm25", "dense")
    }
    pool = Pool.from_legs(legs)
    assert len(pool.parts) > 3
    assert sum(part.n_queries for part in pool.parts) == len(sizes)
    for name in ("rrf(k=60)", "zerda", "convex(norm=zscore,alpha=0.5)", "combmed(norm=sum)", "borda"):
        method = parse_method(name)
        hits = method.fuse(pool, 40)
        assert np.array_equal(method.fuse(pool, 40, n_threads=1).ids, hits.ids)
        whole = method.scores(pool)
        for query in range(len(sizes)):
            entries = slice(pool.offsets[query], pool.offsets[query + 1])
            order = np.lexsort((pool.docs[entries], -whole[entries]))[:40]
            assert np.array_equal(hits.row(query)[0], pool.docs[entries][order])
            assert np.array_equal(hits.row(query)[1], whole[entries][order])


@pytest.mark.parametrize("method", default_methods(), ids=str)
def test_f15_no_method_changes_its_inputs(method) -> None:
    legs = {"bm25": one([(3, 2.0), (1, 1.0), (3, 0.5)]), "dense": one([(1, 0.9), (2, -0.5)])}
    before = {name: [a.copy() for a in (hits.ids, hits.scores, hits.counts)] for name, hits in legs.items()}
    pool = Pool.from_legs(legs)
    tables = [a.copy() for a in (pool.docs, pool.ranks, pool.scores)]
    first = method.fuse(pool, 2)
    again = method.fuse(pool, 2)
    assert np.array_equal(first.ids, again.ids)
    assert np.array_equal(first.scores, again.scores)
    for name, hits in legs.items():
        for old, new in zip(before[name], (hits.ids, hits.scores, hits.counts), strict=True):
            assert np.array_equal(old, new)
    for old, new in zip(tables, (pool.docs, pool.ranks, pool.scores), strict=True):
        assert np.array_equal(old, new, equal_nan=True)
