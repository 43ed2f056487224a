"""Measures: the known traps with values worked by hand, and ir_measures itself on the same run."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import measures as naive
from zerda_bench.eval import measures as module
from zerda_bench.eval.measures import DEFAULT_MEASURES, POLICIES, Evaluation, Judge, evaluate, parse_measures
from zerda_bench.hits import Hits

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, int]]

# DCG's discount of rank 2.
RANK2 = 1 / math.log2(3)


def as_hits(run: Run, doc_ids: list[str]) -> Hits:
    """Rows in this library's order: score descending, then ascending document index."""
    rows = []
    for scores in run.values():
        ranked = sorted(scores, key=lambda document: (-scores[document], doc_ids.index(document)))
        rows.append(([doc_ids.index(document) for document in ranked], [scores[document] for document in ranked]))
    return Hits.from_rows(rows)


def judged(qrels: Qrels, run: Run, *measures: str) -> Evaluation:
    doc_ids = sorted({document for scores in run.values() for document in scores} | {"d1", "d9"})
    return evaluate(qrels, list(run), doc_ids, as_hits(run, doc_ids), parse_measures(measures))


def value(qrels: Qrels, run: Run, measure: str) -> float:
    return judged(qrels, run, measure).mean[measure]


# --- cases of public bug reports, by their number -------------------------------------------------------------------


def test_g1_ties_go_to_the_greater_document_id_and_are_counted() -> None:
    run = {"q": {"d1": 1.0, "d9": 1.0}}
    assert value({"q": {"d1": 1}}, run, "nDCG@10") == pytest.approx(RANK2)
    assert value({"q": {"d9": 1}}, run, "nDCG@10") == 1.0
    assert judged({"q": {"d9": 1}}, run, "nDCG@10").tied_queries == 1
    assert judged({"q": {"d9": 1}}, {"q": {"d1": 2.0, "d9": 1.0}}, "nDCG@10").tied_queries == 0


def test_g1_scores_that_float32_cannot_tell_apart_are_tied() -> None:
    run = {"q": {"d1": 1.0 + 1e-9, "d9": 1.0}}
    evaluation = judged({"q": {"d1": 1}}, run, "nDCG@10", "RR@10")
    assert evaluation.mean["nDCG@10"] == pytest.approx(RANK2)
    assert evaluation.mean["RR@10"] == 1.0  # MS MARCO's code compares in float64
    assert evaluation.tied_queries == 1


def test_g3_the_denominator_is_all_judged_queries() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    for run in ({"q1": {"d1": 1.0}}, {"q1": {"d1": 1.0}, "q2": {}}):
        evaluation = judged(qrels, run, "nDCG@10")
        assert evaluation.mean["nDCG@10"] == 0.5
        assert evaluation.query_ids == ("q1", "q2")
        assert evaluation.per_query["nDCG@10"].tolist() == [1.0, 0.0]
        assert evaluation.queries_without_hits == ("q2",)


def test_g4_a_query_with_an_empty_judgment_list_is_left_out_and_harms_no_other() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {}, "q3": {"d9": 1}}
    evaluation = judged(qrels, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"d9": 1.0}}, *DEFAULT_MEASURES)
    assert evaluation.query_ids == ("q1", "q3")
    assert evaluation.queries_not_judged == ("q2",)
    assert set(evaluation.mean.values()) == {1.0}


def test_g5_a_query_that_is_not_judged_is_ignored_and_counted() -> None:
    evaluation = judged({"q1": {"d1": 1}}, {"q0": {"d9": 1.0}, "q1": {"d1": 1.0}}, "nDCG@10")
    assert evaluation.mean["nDCG@10"] == 1.0
    assert evaluation.queries_not_judged == ("q0",)


def test_g6_the_ideal_ranking_holds_all_judged_documents() -> None:
    qrels = {"q": {"d1": 1, "not retrieved": 1}}
    assert value(qrels, {"q": {"d1": 1.0}}, "nDCG@10") == pytest.approx(1 / (1 + RANK2))  # .6131


def test_g7_the_discount_is_log2_of_rank_plus_one() -> None:
    assert value({"q": {"d1": 1}}, {"q": {"d9": 2.0, "d1": 1.0}}, "nDCG@10") == pytest.approx(0.6309, abs=5e-5)


def test_g9_a_negative_grade_gains_nothing() -> None:
    assert value({"q": {"d1": -2, "d9": 1}}, {"q": {"d1": 2.0, "d9": 1.0}}, "nDCG@10") == pytest.approx(RANK2)


def test_g10_a_run_shorter_than_the_cutoff_keeps_the_denominators() -> None:
    evaluation = judged({"q": {"d1": 1, "d2": 1, "d3": 1, "d4": 1}}, {"q": {"d1": 1.0}}, "P@10", "R@10", "nDCG@1000")
    assert evaluation.mean["P@10"] == pytest.approx(0.1)
    assert evaluation.mean["R@10"] == 0.25


def test_g11_g20_queries_without_a_relevant_document_count_zero_and_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="zerda_bench"):
        evaluation = judged(
            {"q1": {"d1": 1}, "q2": {"d1": 0, "d9": -1}},
            {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}},
            "nDCG@10", "R@10", "AP", "RR@10", "Rprec", "SetP",
        )  # fmt: skip
    assert all(values.tolist() == [1.0, 0.0] for values in evaluation.per_query.values())
    assert evaluation.queries_without_relevant == ("q2",)
    assert "1 of 2 judged queries" in caplog.text


def test_g13_numbers_of_other_types_are_taken_and_wrong_keys_are_named() -> None:
    hits = Hits(np.array([[0]]), np.array([[1.0]], np.float32), np.array([1]))  # type: ignore[arg-type]
    grades: Qrels = {"q": {"d1": np.float64(1.0)}}  # type: ignore[dict-item]
    assert evaluate(grades, ["q"], ["d1"], hits, ["R@1"]).mean["R@1"] == 1.0
    with pytest.raises(TypeError, match=r"query id 7 .*int"):
        evaluate({7: {"d1": 1}}, ["q"], ["d1"], hits, ["R@1"])  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="document id 3"):
        evaluate({"q": {3: 1}}, ["q"], ["d1"], hits, ["R@1"])  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"document d1: grade 0\.5"):
        evaluate({"q": {"d1": 0.5}}, ["q"], ["d1"], hits, ["R@1"])  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="grade 1234567 is above"):
        evaluate({"q": {"d1": 1234567}}, ["q"], ["d1"], hits, ["R@1"])
    with pytest.raises(ValueError, match="grade nan"):
        evaluate({"q": {"d1": math.nan}}, ["q"], ["d1"], hits, ["R@1"])  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"query_ids\[0\] must be str"):
        evaluate({"q": {"d1": 1}}, [7], ["d1"], hits, ["R@1"])  # type: ignore[list-item]


def test_h4_judged_documents_and_queries_that_do_not_exist_stay_in_the_denominators() -> None:
    evaluation = judged({"q": {"d1": 1, "gone": 1}, "gone too": {"d1": 1}}, {"q": {"d1": 1.0}}, "R@10")
    assert evaluation.per_query["R@10"].tolist() == [0.5, 0.0]


def test_h10_an_empty_run_evaluates_to_zeros() -> None:
    evaluation = judged({"q": {"d1": 1}}, {"q": {}}, *DEFAULT_MEASURES)
    assert set(evaluation.mean.values()) == {0.0}


# --- against ir_measures and the definitions ------------------------------------------------------------------------

DOCUMENTS = [f"d{i}" for i in range(12)]
RUNS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q4"]),
    # Few values, and some that only float64 tells apart: ties of both kinds.
    st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 0.5, 0.5 + 1e-10, 1.0, 1.0 + 1e-6, 7.25, -3.0])),
    min_size=1,
)
QRELS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q5"]),
    st.dictionaries(st.sampled_from([*DOCUMENTS, "absent"]), st.integers(-3, 3), min_size=1),
    min_size=1,
)


@given(QRELS, RUNS)
def test_values_equal_ir_measures_on_the_same_run(qrels: Qrels, run: Run) -> None:
    short = [*DEFAULT_MEASURES, "P@3", "P(rel=2)@3", "Rprec", "Success@1", "nDCG", "RR", "AP(rel=2)@4"]
    for names in (short, [*short, "Bpref", "Judged@3", "SetF", "NumRet"]):
        evaluation = evaluate(qrels, list(run), DOCUMENTS, as_hits(run, DOCUMENTS), parse_measures(names))
        # An empty ranking divides Judged@k by 0 there: it is left out, and counts 0 like a query without hits.
        ranked = {query: ranking for query, ranking in run.items() if ranking}
        # A query with negative grades only can end the process there: grade 0 stands in for them.
        safe = {q: grades if max(grades.values()) >= 0 else dict.fromkeys(grades, 0) for q, grades in qrels.items()}
        reference = ir_measures.calc([ir_measures.parse_measure(name) for name in names], safe, ranked)
        for metric in reference.per_query:
            got = evaluation.per_query[str(metric.measure)][evaluation.query_ids.index(metric.query_id)]
            assert got == metric.value, (metric, got)
        for measure, mean in reference.aggregated.items():
            assert evaluation.mean[str(measure)] == pytest.approx(mean, rel=1e-12)


def test_g9_negative_grades_neither_crash_nor_gain() -> None:
    """Enough random judgments down to -5 that pytrec_eval, handed them as they are, ends the process."""
    rng = np.random.default_rng(9)
    for _ in range(300):
        qrels = {
            f"q{q}": {d: int(rng.integers(-5, 4)) for d in rng.choice(DOCUMENTS, 8, replace=False)} for q in range(4)
        }
        run = {q: {d: float(rng.random()) for d in rng.choice(DOCUMENTS, 6, replace=False)} for q in qrels}
        values = evaluate(qrels, list(run), DOCUMENTS, as_hits(run, DOCUMENTS), ["nDCG", "AP", "P@5"]).per_query
        for i, query in enumerate(qrels):
            assert values["nDCG"][i] == pytest.approx(naive.ndcg(qrels[query], run[query], 12), abs=1e-7)


def test_g9_a_negative_grade_is_not_judged_for_measures_that_know_the_difference() -> None:
    run = {"q": {"d9": 2.0, "d1": 1.0}}
    assert value({"q": {"d1": 1, "d9": 0}}, run, "Bpref") == 0.0
    assert value({"q": {"d1": 1, "d9": -1}}, run, "Bpref") == 1.0


@given(QRELS, RUNS)
def test_values_equal_the_definitions(qrels: Qrels, run: Run) -> None:
    evaluation = evaluate(qrels, list(run), DOCUMENTS, as_hits(run, DOCUMENTS), parse_measures(["nDCG@3", "R@3", "AP"]))
    for i, query in enumerate(evaluation.query_ids):
        ref = [
            naive.ndcg(qrels[query], run.get(query, {}), 3),
            naive.recall(qrels[query], run.get(query, {}), 3),
            naive.average_precision(qrels[query], run.get(query, {})),
        ]
        got = [evaluation.per_query[name][i] for name in ("nDCG@3", "R@3", "AP")]
        assert got == pytest.approx(ref, abs=1e-7)


def test_a_judge_serves_many_runs_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    doc_ids = [f"d{i}" for i in range(40)]
    query_ids = [f"q{i}" for i in range(23)]
    qrels = {q: {doc_ids[i]: 1 for i in rng.choice(40, 3, replace=False)} for q in query_ids}
    runs = [
        Hits.from_rows([(rng.permutation(40)[:20].tolist(), np.sort(rng.random(20))[::-1].tolist()) for _ in query_ids])
        for _ in range(3)
    ]
    measures = parse_measures(DEFAULT_MEASURES)
    whole = [evaluate(qrels, query_ids, doc_ids, hits, measures) for hits in runs]
    monkeypatch.setattr(module, "_QUERIES_A_CHUNK", 5)
    judge = Judge(qrels, query_ids, doc_ids, measures)
    for ref, hits in zip(whole, runs, strict=True):
        got = judge.evaluate(hits)
        assert got.mean == ref.mean
        assert all(np.array_equal(got.per_query[name], ref.per_query[name]) for name in ref.per_query)


def test_the_rules_travel_with_the_result() -> None:
    evaluation = judged({"q": {"d1": 1}}, {"q": {"d1": 1.0}}, "AP")
    assert evaluation.policies == POLICIES
    assert {"denominator", "ties", "relevance_level", "self_match"} <= set(POLICIES)


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spellings", "name"),
    [
        ("nDCG@10 ndcg@10 NDCG@10 ndcg_cut_10 ndcg_cut.10 ndcg_at_10 nDCG(cutoff=10)", "nDCG@10"),
        ("R@100 r@100 Recall@100 recall_100 recall.100 recall_at_100", "R@100"),
        ("AP map MAP mean_average_precision", "AP"),
        ("AP@100 map@100 map_cut_100 map_at_100", "AP@100"),
        ("RR mrr MRR recip_rank", "RR"),
        ("RR@10 mrr@10 mrr_at_10", "RR@10"),
        ("P@5 P_5 precision@5 precision_at_5", "P@5"),
        ("Success@1 success_1 hit_rate@1 hits@1", "Success@1"),
        ("Rprec R-Precision", "Rprec"),
        ("IPrec@0.1 iprec_at_recall_0.10", "IPrec@0.1"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("nDCG(gains={0:0,1:1,2:3})@10", "nDCG(gains={2:3})@10"),
    ],
)
def test_dialects_have_one_canonical_name(spellings: str, name: str) -> None:
    for spelling in spellings.split():
        assert [str(measure) for measure in parse_measures([spelling])] == [name]
    assert [str(measure) for measure in parse_measures([name])] == [name]


def test_the_same_measure_twice_is_one() -> None:
    assert [str(m) for m in parse_measures(["R@10", "recall_10", "AP"])] == ["R@10", "AP"]


def test_measures_of_ir_measures_are_taken_as_they_are() -> None:
    assert parse_measures([ir_measures.nDCG @ 10]) == [ir_measures.nDCG @ 10]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("foo", "unknown measure 'foo'; for example: nDCG@10"),
        ("nDCG@", "unknown measure"),
        ("", "unknown measure"),
        ("R", "cutoff is missing"),
        ("R@0", "at least 1"),
        ("nDCG@1.5", r"cutoff=1\.5"),
        ("nDCG(foo=1)@10", "foo"),
        ("P(2)@5", r"P\(rel=2\)@5"),
        ("P(rel=x)@5", "cannot read"),
    ],
)
def test_what_is_no_measure_is_refused_in_one_line(expression: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        parse_measures([expression])
    assert "\n" not in str(error.value)


def test_a_measure_whose_package_is_missing_says_how_to_get_it() -> None:
    if ir_measures.providers.registry["pyndeval"].is_available():
        pytest.skip("pyndeval is installed")
    with pytest.raises(ValueError, match="pip install"):
        parse_measures(["alpha_nDCG@10"])


def test_a_single_string_is_no_list_of_measures() -> None:
    with pytest.raises(TypeError, match="sequence"):
        parse_measures("AP")
    with pytest.raises(ValueError, match="empty"):
        parse_measures([])


# --- what a Judge refuses -------------------------------------------------------------------------------------------


def test_what_does_not_fit_together_is_refused() -> None:
    hits = Hits.from_rows([([0, 1], [2.0, 1.0])])
    qrels = {"q": {"d1": 1}}
    with pytest.raises(ValueError, match="no judgments"):
        evaluate({"q": {}}, ["q"], ["d1", "d2"], hits, ["AP"])
    with pytest.raises(ValueError, match="1 rows for 2 query_ids"):
        evaluate(qrels, ["q", "p"], ["d1", "d2"], hits, ["AP"])
    with pytest.raises(ValueError, match="document 1, but there are 1"):
        evaluate(qrels, ["q"], ["d1"], hits, ["AP"])
    with pytest.raises(ValueError, match="doc_ids holds 'd1' twice"):
        evaluate(qrels, ["q"], ["d1", "d1"], hits, ["AP"])
    with pytest.raises(ValueError, match="NaN"):
        evaluate(qrels, ["q"], ["d1", "d2"], Hits.from_rows([([0], [math.nan])]), ["AP"])
    with pytest.raises(ValueError, match="descending"):
        evaluate(qrels, ["q"], ["d1", "d2"], Hits.from_rows([([0, 1], [1.0, 2.0])]), ["AP"])
