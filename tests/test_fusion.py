"""Fusion: every method against its twin, and the cases that others got wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import fusion as naive
from zerda_bench.fusion import (
    METHODS,
    NORMALISATIONS,
    Pool,
    default_methods,
    explain,
    fuse,
    parse_method,
)
from zerda_bench.hits import Hits

VARIANTS = [m.name for m in default_methods()] + [
    *(f"{family}(norm={norm})" for family in ("combsum", "combmnz", "combanz", "combmax", "combmin", "combmed")
      for norm in NORMALISATIONS),
    "rrf(k=0)",
    "convex(norm=zscore,weights=1:3)",
    "zerda(vector=1,keyword=2,bonus=0.5,k=1)",
]  # fmt: skip


def legs_of(*rows: list[tuple[int, float]], names: tuple[str, ...] = ("bm25", "dense")) -> dict[str, Hits]:
    """One query's legs from lists of (document, score)."""
    return {
        name: Hits.from_rows([([d for d, _ in row], [s for _, s in row])])
        for name, row in zip(names, rows, strict=False)
    }


def ranked(hits: Hits, query: int = 0) -> list[int]:
    return hits.row(query)[0].tolist()


@st.composite
def ranked_lists(draw, floor: float):
    """A leg's list: few distinct scores, so that ties are common; sometimes tiny or huge ones."""
    scores = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(floor, 1.0) | st.sampled_from([1e-12, 40.0, 1e6])
    if floor < 0:
        scores = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]) | st.floats(-1.0, 1.0)
    docs = draw(st.lists(st.integers(0, 15), max_size=12, unique=True))
    values = sorted(draw(st.lists(scores, min_size=len(docs), max_size=len(docs))), reverse=True)
    return list(zip(docs, values, strict=True))


@pytest.mark.parametrize("name", VARIANTS)
@given(queries=st.lists(st.tuples(ranked_lists(0.0), ranked_lists(-1.0)), max_size=4), k=st.integers(0, 20))
def test_equals_the_naive_twin(name, queries, k) -> None:
    method = parse_method(name)
    legs = {
        leg: Hits.from_rows([([d for d, _ in row[i]], [s for _, s in row[i]]) for row in queries], width=12)
        for i, leg in enumerate(("bm25", "dense"))
    }
    hits = fuse(legs, method, k)
    for q, (sparse, dense) in enumerate(queries):
        ref = naive.fuse({"bm25": sparse, "dense": dense}, method.family, dict(method.parameters))
        ids, scores = hits.row(q)
        assert len(ids) == min(k, len(ref))
        # Sums are rounded in another order here and there; scores agree closely and the order follows ours exactly.
        assert scores.tolist() == pytest.approx([ref[d] for d in ids.tolist()], rel=1e-9, abs=1e-9)
        assert sorted(ref.values(), reverse=True)[: len(ids)] == pytest.approx(scores.tolist(), rel=1e-9, abs=1e-9)
        assert ids.tolist() == [
            d for d, _ in sorted(zip(ids.tolist(), scores, strict=True), key=lambda p: (-p[1], p[0]))
        ]


@given(st.lists(st.tuples(ranked_lists(0.0), ranked_lists(-1.0)), min_size=1, max_size=3), st.integers(0, 8))
def test_smaller_k_is_a_prefix_and_inputs_stay_as_they_are(queries, k) -> None:
    legs = {
        leg: Hits.from_rows([([d for d, _ in row[i]], [s for _, s in row[i]]) for row in queries])
        for i, leg in enumerate(("bm25", "dense"))
    }
    before = {name: (hits.ids.copy(), hits.scores.copy()) for name, hits in legs.items()}
    for name in ("rrf(k=60)", "zerda", "convex(norm=minmax,alpha=0.5)", "condorcet"):
        more = fuse(legs, name, 20)
        less = fuse(legs, name, k)
        for q in range(len(queries)):
            assert ranked(less, q) == ranked(more, q)[:k]
    for name, (ids, scores) in before.items():
        assert np.array_equal(ids, legs[name].ids)
        assert np.array_equal(scores, legs[name].scores)


def test_f1_a_missing_document_adds_nothing_to_rrf() -> None:
    x, a, y, b, c = 0, 1, 2, 3, 4
    hits = fuse(legs_of([(x, 3), (a, 2), (y, 1)], [(b, 0.9), (c, 0.8), (y, 0.7)]), "rrf(k=60)", 5)
    assert ranked(hits) == [y, x, b, a, c]
    assert hits.scores[0] == pytest.approx([0.031746, 0.016393, 0.016393, 0.016129, 0.016129], abs=1e-6)


@pytest.mark.parametrize("family", ["rrf(k=60,weights={})", "convex(norm=minmax,weights={})"])
def test_f2_weights(family: str) -> None:
    legs = legs_of([(0, 3), (1, 2)], [(2, 0.9), (1, 0.8)])
    assert ranked(fuse(legs, family.format("1:0"), 2)) == [0, 1]
    equal = fuse(legs, family.format("1:1"), 3)
    assert np.array_equal(fuse(legs, family.format("2:2"), 3).scores, equal.scores)
    for bad in ("-1:1", "nan:1", "0:0", "inf:1", "x:1"):
        with pytest.raises(ValueError, match="weights"):
            parse_method(family.format(bad))
    with pytest.raises(ValueError, match="3 numbers for 2 legs"):
        fuse(legs, family.format("1:1:1"), 2)


def test_f3_a_document_twice_in_a_list_counts_once_at_its_best_rank() -> None:
    hits = fuse(legs_of([(7, 3), (8, 2), (7, 1)], []), "rrf(k=60)", 5)
    assert hits.row(0)[1].tolist() == [1 / 61, 1 / 62]


def test_f6_constant_or_single_scores_are_1_under_minmax() -> None:
    for leg in ([(3, 5.0)], [(3, 5.0), (1, 5.0)]):
        assert set(fuse(legs_of(leg, []), "combsum(norm=minmax)", 5).row(0)[1].tolist()) == {1.0}


def test_f7_minmax_of_four_scores() -> None:
    hits = fuse(legs_of([(3, 11), (1, 8), (2, 6), (0, 1)], names=("bm25",)), "combsum(norm=minmax)", 4)
    assert dict(zip(*(p.tolist() for p in hits.row(0)), strict=True)) == pytest.approx({3: 1.0, 1: 0.7, 2: 0.5, 0: 0.0})


def test_f11_a_leg_without_scores_can_be_fused_by_rank_only() -> None:
    legs = legs_of([(1, 2.0), (2, 1.0)], [(2, np.nan), (1, np.nan)])
    assert ranked(fuse(legs, "rrf(k=60)", 2)) == [1, 2]
    for name in ("combsum(norm=minmax)", "zerda", "convex(norm=tmm,alpha=0.5)"):
        with pytest.raises(ValueError, match="leg 'dense' has scores that are no finite numbers"):
            fuse(legs, name, 2)


@pytest.mark.parametrize("name", VARIANTS)
def test_f12_empty_legs(name: str) -> None:
    one = fuse(legs_of([(5, 3.0), (4, 2.0), (6, 1.0)], []), name, 3)
    if name not in ("zerda-documented",) and "combmin" not in name:
        assert ranked(one)[0] == 5
    none = fuse(legs_of([], []), name, 3)
    assert none.counts.tolist() == [0]
    assert fuse({"bm25": Hits.empty(0, 3), "dense": Hits.empty(0, 3)}, name, 3).n_queries == 0


def test_f14_dbsf_uses_the_deviation_of_a_sample() -> None:
    hits = fuse(legs_of([(0, 3.0), (1, 1.0)], names=("bm25",)), "combsum(norm=dbsf)", 2)
    assert hits.scores[0] == pytest.approx([0.6179, 0.3821], abs=1e-4)


def test_dbsf_keeps_the_order_of_outliers() -> None:
    scores = [(i, s) for i, s in enumerate([90.0, 80.0, *[1.0] * 60])]
    hits = fuse(legs_of(scores, names=("bm25",)), "combsum(norm=dbsf)", 3)
    assert ranked(hits) == [0, 1, 2]
    assert hits.scores[0, 0] > hits.scores[0, 1] > 1.0


def test_f16_raw_scores_of_different_scale_do_not_add_up() -> None:
    with pytest.raises(ValueError, match="norm=none must be one of"):
        parse_method("combsum(norm=none)")


def test_f18_scale_of_rrf() -> None:
    assert fuse(legs_of([(0, 9.0)], names=("bm25",)), "rrf(k=60)", 1).scores[0, 0] == 1 / 61


def test_equal_fused_scores_order_by_document() -> None:
    hits = fuse(legs_of([(9, 3), (2, 2)], [(2, 0.9), (9, 0.8)]), "rrf(k=60)", 2)
    assert ranked(hits) == [2, 9]


def test_depth_cuts_the_lists() -> None:
    legs = legs_of([(0, 3), (1, 2), (2, 1)], [(2, 0.9), (1, 0.8), (0, 0.7)])
    assert ranked(fuse(legs, "rrf(k=60)", 9, depth=1)) == [0, 2]


def test_names_round_trip() -> None:
    for method in default_methods():
        assert parse_method(method.name) == method
        assert str(method) == method.name
    assert parse_method(" rrf ( k = 60 ) ").name == "rrf(k=60)"
    assert parse_method("zerda(bonus=0.2)").name == "zerda"
    assert {m.family for m in default_methods()} == METHODS.keys()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nonsense", "unknown fusion method 'nonsense'; there are: zerda"),
        ("rrf(depth=3)", "no parameter 'depth'; it has: k, weights"),
        ("rrf(k=x)", "k=x is no number"),
        ("rrf(k=-1)", "must lie between"),
        ("convex(alpha=2)", "alpha=2 must lie between 0 and 1"),
        ("convex(alpha=0.5,weights=1:1)", "alpha or weights, not both"),
        ("rrf(k=60", "not of the form"),
        ("rrf(60)", "not of the form parameter=value"),
        ("rrf(k=1,k=2)", "gives k twice"),
    ],
)
def test_bad_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parse_method(name)


def test_bad_legs() -> None:
    with pytest.raises(ValueError, match="at least one"):
        fuse({}, "isr", 3)
    with pytest.raises(ValueError, match="different numbers of queries"):
        fuse({"bm25": Hits.empty(1, 1), "dense": Hits.empty(2, 1)}, "isr", 3)
    legs = legs_of([(0, 1.0)], [(0, 1.0)], names=("a", "b"))
    for name, message in (("zerda", "named 'bm25' and 'dense', not 'a'"), ("combsum(norm=tmm)", "leg 'a'")):
        with pytest.raises(ValueError, match=message):
            fuse(legs, name, 3)
    with pytest.raises(ValueError, match="k must be 0 or greater"):
        fuse(legs, "isr", -1)


@pytest.mark.parametrize("name", VARIANTS)
def test_explanations_add_up(name: str) -> None:
    legs = legs_of([(0, 3.0), (1, 2.0)], [(2, 0.9), (1, 0.8)])
    hits = fuse(legs, name, 3)
    for doc, score in zip(*(part.tolist() for part in hits.row(0)), strict=True):
        why = explain(legs, name, 0, doc)
        assert why.score == score
        shares = [leg.share for leg in why.legs]
        if None not in shares:
            assert sum(shares) == pytest.approx(score)
        assert [leg.rank for leg in why.legs] == [{0: 1, 1: 2}.get(doc), {2: 1, 1: 2}.get(doc)]
    with pytest.raises(KeyError, match="no leg found document 9"):
        explain(legs, name, 0, 9)


def test_zerda_equals_the_hybrid_retriever() -> None:
    """The array method and the retriever are the same formula, in two places for two kinds of input."""
    from types import SimpleNamespace

    from zerda_bench import (
        BM25Index,
        ContextEngineConfig,
        HybridRetriever,
        KeywordRetriever,
        RetrieverConfig,
        VectorIndex,
        VectorRetriever,
    )

    rng = np.random.default_rng(5)
    words = ["fox", "dog", "cat", "cow", "pig", "hen"]
    texts = list(dict.fromkeys(" ".join(rng.choice(words, 6)) for _ in range(30)))
    vectors, query_vector = rng.standard_normal((len(texts), 8)), rng.standard_normal(8)
    chunks = [SimpleNamespace(text=text, id=str(i)) for i, text in enumerate(texts)]
    for bonus, name in ((True, "zerda"), (False, "zerda-documented")):
        config = ContextEngineConfig(retriever=RetrieverConfig(rrf_bonus=bonus, pad_with_zero_scores=False))
        vector = VectorRetriever(config, chunks, vectors, lambda text: query_vector)
        hybrid = HybridRetriever(config, vector, KeywordRetriever(config, chunks))
        legs = {
            "bm25": BM25Index.from_texts(texts).search("fox dog", 20),
            "dense": VectorIndex(vectors, dtype="float64").search(query_vector, 20),
        }
        expected = fuse(legs, name, 10)
        got = hybrid.retrieve("fox dog", top_k=10)
        assert [int(sc.doc_id) for sc in got] == ranked(expected)
        assert [sc.composite_score for sc in got] == pytest.approx(expected.scores[0].tolist(), rel=1e-12)


def test_answers_do_not_depend_on_the_size_of_the_batch() -> None:
    rng = np.random.default_rng(6)
    rows = [
        [(int(d), float(s)) for d, s in zip(rng.permutation(40)[:20], -np.sort(-rng.random(20)), strict=True)]
        for _ in range(300)
    ]
    legs = {
        n: Hits.from_rows([([d for d, _ in r], [s for _, s in r]) for r in rows[i:]][:200])
        for i, n in enumerate(("bm25", "dense"))
    }
    whole = Pool.from_legs(legs)
    for method in default_methods():
        together = method.fuse(whole, 15)
        alone = fuse(
            {n: Hits(h.ids[150:151], h.scores[150:151], h.counts[150:151]) for n, h in legs.items()}, method, 15
        )
        assert np.array_equal(together.row(150)[0], alone.row(0)[0])
        assert np.array_equal(together.row(150)[1], alone.row(0)[1])
