"""eval/variants.py and eval/plan.py: what is measured, and when two runs are the same."""

from __future__ import annotations

import dataclasses
import re
import shlex

import pytest

from tests.tiny_collection import write_collection
from zerda_bench.eval import load_dataset
from zerda_bench.eval.datasets import Dataset
from zerda_bench.eval.plan import Request, code_digest
from zerda_bench.eval.variants import ALL, LEGS, legs_of, parse_variants
from zerda_bench.fusion import default_methods


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return load_dataset(str(write_collection(tmp_path_factory.mktemp("data") / "tiny")))


def plan(dataset: Dataset, **settings):
    return Request.parse(**{"embedder": "lsa(dim=8)", **settings}).plan(dataset)


def test_all_is_both_legs_and_every_default_method() -> None:
    names = [variant.name for variant in parse_variants([ALL])]
    assert names == [*LEGS, *map(str, default_methods())]
    assert [v.name for v in parse_variants([ALL]) if v.is_leg] == list(LEGS)


def test_variants_are_canonical_and_each_once_with_their_baselines() -> None:
    got = parse_variants(["rrf", "rrf( k = 60 )", "bm25", "isr"])
    assert [v.name for v in got] == ["bm25", "dense", "rrf(k=60)", "isr"]
    assert legs_of(got) == LEGS
    assert legs_of(parse_variants(["bm25"])) == ("bm25",)
    assert legs_of(parse_variants(["dense"])) == ("dense",)


def test_slugs_are_safe_and_differ_whatever_the_case() -> None:
    slugs = [v.slug for v in parse_variants([ALL, "rrf(k=60,weights=0.7:0.3)", "rrf(k=60.7)"])]
    assert len({slug.casefold() for slug in slugs}) == len(slugs)
    assert all(re.fullmatch(r"[A-Za-z0-9.+-]+", slug) for slug in slugs)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ([], ValueError, "variants is empty"),
        ("rrf", TypeError, "sequence of str"),
        (["bm26"], ValueError, "unknown fusion method 'bm26'; there are: zerda"),
        (["rrf(q=1)"], ValueError, "no parameter 'q'"),
        (["rrf(weights=1:2:3)"], ValueError, "3 weights for the legs bm25, dense"),
    ],
)
def test_bad_variants(names, error, message) -> None:
    with pytest.raises(error, match=message):
        parse_variants(names)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"depth": 0}, ValueError, "depth must be 1 or greater, got 0"),
        ({"depth": 1.5}, TypeError, "depth must be an integer"),
        ({"sample": 0}, ValueError, "sample"),
        ({"k1": -1}, ValueError, "k1"),
        ({"b": 2}, ValueError, "b must lie"),
        ({"analyzer": "klingon"}, ValueError, "analyzer"),
        ({"embedder": "nothing"}, ValueError, "embedder"),
        ({"measures": ["nDCC@10"]}, ValueError, "unknown measure"),
        ({"measures": []}, ValueError, "measures is empty"),
    ],
)
def test_bad_settings_are_named(settings, error, message) -> None:
    with pytest.raises(error, match=message):
        Request.parse(**settings)


@pytest.mark.parametrize(
    ("language", "analyzer"), [("ar", "arabic"), ("en", "english"), ("de", "zerda"), (None, "zerda")]
)
def test_the_analyzer_follows_the_language(dataset: Dataset, language: str | None, analyzer: str) -> None:
    spoken = dataclasses.replace(dataset, language=language)
    assert plan(spoken).analyzer.name == analyzer
    assert plan(spoken, analyzer="english").analyzer.name == "english"


def test_only_what_is_needed_is_made(dataset: Dataset) -> None:
    sparse, dense = plan(dataset, variants=["bm25"]), plan(dataset, variants=["dense"])
    assert (sparse.legs, sparse.embedder) == (("bm25",), None)
    assert (dense.legs, dense.analyzer) == (("dense",), None)


def test_run_id_changes_with_everything_that_decides_figures_and_nothing_else(dataset: Dataset) -> None:
    base = plan(dataset)
    assert base.run_id == plan(dataset).run_id
    assert re.fullmatch(r"zerda-lsa-dim-8-[0-9a-f]{10}", base.run_id)
    assert base.run_id == plan(dataclasses.replace(dataset, name="renamed", notices=())).run_id
    changed = [
        {"analyzer": "english"},
        {"k1": 0.9},
        {"b": 0.4},
        {"embedder": "lsa(dim=9)"},
        {"variants": ["rrf"]},
        {"variants": ["bm25"]},
        {"measures": ["nDCG@10"]},
        {"depth": 999},
        {"sample": 5},
    ]
    ids = {plan(dataset, **settings).run_id for settings in changed}
    assert len(ids | {base.run_id}) == len(changed) + 1


@pytest.mark.parametrize("field", ["texts", "queries", "qrels"])
def test_changed_content_under_the_same_name_is_another_run(dataset: Dataset, field: str) -> None:
    """K1: change topics, keep the name: must run again."""
    value = getattr(dataset, field)
    other = value | {"q3": {"d1": 1}} if field == "qrels" else [*value[:-1], "changed"]
    assert plan(dataclasses.replace(dataset, **{field: other})).run_id != plan(dataset).run_id


def test_the_code_is_part_of_the_identity(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan(dataset).run_id
    monkeypatch.setattr("zerda_bench.eval.plan.code_digest", lambda: "another")
    assert plan(dataset).run_id != before
    assert re.fullmatch("[0-9a-f]{64}", code_digest())


def test_samples(dataset: Dataset) -> None:
    sampled = plan(dataset, sample=5)
    assert len(sampled.dataset.query_ids) == 5
    assert (sampled.sample.size, sampled.sample.of) == (5, len(dataset.judged_queries()))
    assert sampled.sample.full_content_hash == dataset.content_hash
    whole = plan(dataset, sample=500)
    assert whole.sample is None
    assert whole.run_id == plan(dataset).run_id


def test_the_command_makes_the_same_run_again(dataset: Dataset) -> None:
    assert plan(dataset).command == "zerda-bench run tiny --analyzer zerda --embedder 'lsa(dim=8)'"
    full = plan(
        dataset, sample=5, k1=0.9, b=0.4, variants=["rrf"], measures=["map"], depth=50, analyzer="arabic(stem=none)"
    )
    assert shlex.split(full.command)[2:] == [
        *("tiny", "--sample", "5", "--analyzer", "arabic(stem=none)", "--k1", "0.9", "--b", "0.4"),
        *("--embedder", "lsa(dim=8)", "--variant", "bm25", "--variant", "dense", "--variant", "rrf(k=60)"),
        *("--measure", "AP", "--depth", "50"),
    ]


def test_cutoffs_deeper_than_the_rankings(dataset: Dataset) -> None:
    assert plan(dataset, depth=20).deep_cutoffs() == ["nDCG@100", "R@100", "R@1000"]
    assert plan(dataset, depth=80).deep_cutoffs() == []  # every document is ranked
    assert plan(dataset).deep_cutoffs() == []


def test_a_collection_without_judged_queries_is_refused(dataset: Dataset) -> None:
    with pytest.raises(ValueError, match="no query has a judgment"):
        plan(dataclasses.replace(dataset, qrels={"unknown": {"d1": 1}}))
