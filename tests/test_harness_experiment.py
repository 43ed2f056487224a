"""eval/experiment.py: figures, costs, progress, and what a rerun may not change."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pytest

from tests.tiny_collection import write_collection
from zerda_bench.eval import load_dataset, run_experiment
from zerda_bench.eval.experiment import Experiment
from zerda_bench.eval.plan import Request
from zerda_bench.eval.record import measure, recorded
from zerda_bench.eval.results import Result, ResultPaths
from zerda_bench.eval.stages import Stages
from zerda_bench.eval.trec_run import read_run
from zerda_bench.eval.warmup import kernels, warm_up
from zerda_bench.sparse import BM25Index

SETTINGS = {"embedder": "lsa(dim=8)", "depth": 60}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_collection(tmp_path_factory.mktemp("data") / "tiny")


@pytest.fixture(scope="module")
def written(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, ResultPaths]:
    root = tmp_path_factory.mktemp("results")
    plan = Request.parse(**SETTINGS).plan(load_dataset(str(folder)))
    result = measure(plan, root, Stages(), cache_dir=root / "cache")
    return result, ResultPaths.of(root, "tiny", plan.run_id)


def check_against_ir_measures(result: Result, paths: ResultPaths, qrels: dict[str, dict[str, int]]) -> None:
    """Every figure of the table and every value by query, from the run files on disk."""
    measures = [ir_measures.parse_measure(name) for name in result.measures]
    per_query = result.per_query()
    for variant in result.document["variants"]:
        with gzip.open(paths.run(variant["slug"]), "rt", encoding="utf-8") as lines:
            run = list(ir_measures.read_trec_run(lines))
        ref = ir_measures.calc(measures, qrels, run)
        row = result.row(variant["name"])
        for measure_ in measures:
            assert row.mean[str(measure_)] == pytest.approx(ref.aggregated[measure_], abs=1e-12), (variant, measure_)
        for value in ref.per_query:
            got = per_query[variant["name"]][str(value.measure)][value.query_id]
            assert got == pytest.approx(value.value, abs=1e-12), (variant, value)


def test_figures_equal_ir_measures_on_the_written_files(folder: Path, written) -> None:
    check_against_ir_measures(*written, load_dataset(str(folder)).qrels)


def test_run_files_hold_the_rankings(folder: Path, written) -> None:
    _, paths = written
    data = load_dataset(str(folder))
    index = BM25Index.from_texts(data.texts)
    run = read_run(paths.run("bm25"))
    for row in data.judged_queries():
        ids, scores = index.search(data.queries[row], 60).row(0)
        ref = [(data.doc_ids[d], s) for d, s in zip(ids.tolist(), scores.tolist(), strict=True)]
        assert run.get(data.query_ids[row], []) == ref
    assert "q1" not in run  # no judgments: not searched
    assert "q2" not in run  # no tokens: no hits
    assert max(map(len, run.values())) <= 60


def test_the_result_file_says_what_was_done(written) -> None:
    result, paths = written
    document = result.document
    assert json.loads(paths.result.read_bytes()) == document
    assert Result.read(paths.result).rows == result.rows
    assert document["dataset"]["counts"] == {"documents": 80, "queries": 14, "judged_queries": 13, "judgments": 75}
    assert any("corpus lacks" in notice for notice in document["dataset"]["notices"])
    assert document["embedder"]["name"] == "lsa(dim=8)"
    assert document["bm25"] == {"k1": 1.5, "b": 0.75}
    assert document["command"].startswith("zerda-bench run tiny --analyzer zerda")
    assert any("bm25 found nothing for 1 of 13 queries" in warning for warning in document["warnings"])
    assert any("R@1000" in warning for warning in document["warnings"])
    assert {stage["name"] for stage in document["stages"]} >= {
        *("compile", "tokenise", "index", "embed documents", "embed queries", "index vectors", "search bm25"),
        *("search dense", "latency bm25", "latency dense", "fuse", "evaluate", "write runs"),
    }
    for leg in ("bm25", "dense"):
        latency = document["legs"][leg]["latency"]
        assert 0 < latency["p50_ms"] <= latency["p95_ms"] <= latency["p99_ms"]
        assert latency["queries"] == 13
        assert document["legs"][leg]["index_bytes"] > 0
    if sys.platform != "win32":
        assert all(stage["peak_rss_bytes"] > 1 << 20 for stage in document["stages"])
    assert document["environment"]["packages"]["numpy"] == np.__version__
    assert str(paths.folder) not in paths.result.read_text(encoding="utf-8")


def test_a_run_is_reused_only_when_all_its_files_are_there(folder: Path, written, tmp_path: Path) -> None:
    result, paths = written
    root = paths.folder.parent
    plan = Request.parse(**SETTINGS).plan(load_dataset(str(folder)))
    assert recorded(plan, root).document == result.document
    assert recorded(plan, tmp_path) is None
    assert recorded(Request.parse(**SETTINGS, k1=0.9).plan(load_dataset(str(folder))), root) is None
    run = paths.run("isr")
    kept = run.read_bytes()
    run.unlink()
    assert recorded(plan, root) is None
    assert recorded(plan, root, runs=False) is not None
    run.write_bytes(kept)


def test_without_run_files_only_table_and_document_are_written(folder: Path, tmp_path: Path) -> None:
    plan = Request.parse(**SETTINGS, variants=["bm25"]).plan(load_dataset(str(folder)))
    result = measure(plan, tmp_path, Stages(), runs=False)
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == {f"{plan.run_id}.json", f"{plan.run_id}.csv"}
    assert result.per_query() is None


class Recorder:
    """A progress listener that remembers."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.open = ""
        self.updates: list[tuple[str, int, int]] = []

    def begin(self, stage: str) -> None:
        assert not self.open
        self.open = stage
        self.stages.append(stage)

    def update(self, done: int, total: int) -> None:
        assert 0 <= done <= total
        self.updates.append((self.open, done, total))

    def end(self) -> None:
        self.open = ""


def test_the_python_api(folder: Path, tmp_path: Path) -> None:
    progress, seen = Recorder(), []
    got = run_experiment(
        str(folder),
        **SETTINGS,
        variants=["rrf(k=60)"],
        measures=["ndcg_cut_10", "recall_50"],
        threads=1,
        cache_dir=tmp_path,
        progress=progress,
        on_ranking=lambda variant, query_ids, hits: seen.append((variant.name, len(query_ids), len(hits))),
    )
    assert isinstance(got, Experiment)
    assert list(got.outcomes) == ["bm25", "dense", "rrf(k=60)"]
    assert seen == [(name, 13, 13) for name in got.outcomes]
    outcome = got.outcomes["rrf(k=60)"]
    assert list(outcome.mean) == ["nDCG@10", "R@50"]
    for name, values in outcome.per_query.items():
        assert values.shape == (13,)
        assert outcome.mean[name] == pytest.approx(values.mean())
    assert got.query_ids == tuple(load_dataset(str(folder)).qrels)
    assert progress.stages[0] == "load"
    assert not progress.open
    assert ("search bm25", 13, 13) in progress.updates


def test_figures_do_not_depend_on_threads_or_the_cache(folder: Path, tmp_path: Path) -> None:
    tables = [
        {
            name: outcome.mean
            for name, outcome in run_experiment(str(folder), **SETTINGS, threads=t, cache_dir=tmp_path).outcomes.items()
        }
        for t in (1, 3)
    ]
    assert tables[0] == tables[1]


def test_threads_are_checked(folder: Path) -> None:
    with pytest.raises(ValueError, match="threads must be 1 or greater, got 0"):
        run_experiment(str(folder), **SETTINGS, threads=0)


RERUN = """
import sys
from zerda_bench.eval.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_reruns_are_byte_identical_under_another_hash_seed_and_thread_count(folder: Path, tmp_path: Path) -> None:
    files = []
    for seed, threads in (("1", "1"), ("77", "3")):
        root = tmp_path / seed
        words = ["run", str(folder), "--embedder", "lsa(dim=8)", "--depth", "60", "--threads", threads, "--quiet"]
        words += ["--output", str(root), "--cache", str(root / "cache"), "--json"]
        done = subprocess.run(
            [sys.executable, "-c", RERUN, *words],
            env={**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        )
        assert len(json.loads(done.stdout)["results"]) == 1
        files.append(
            {
                path.relative_to(root).as_posix(): path.read_bytes()
                for path in (root / "tiny").rglob("*")
                if path.is_file() and (path.suffix == ".csv" or path.name.endswith(".gz"))
            }
        )
    assert len(files[0]) > 20
    assert files[0].keys() == files[1].keys()
    assert [name for name, data in files[0].items() if data != files[1][name]] == []


def test_warming_up_compiles_every_kernel(tmp_path: Path) -> None:
    """In a fresh process with an empty cache, so that kernels within kernels show too."""
    code = (
        "from zerda_bench.eval.warmup import warm_up, kernels\n"
        "done = warm_up()\n"
        "print(set(kernels()) - {k.name for k in done.kernels})\n"
        "print({k.origin for k in done.kernels}, {k.origin for k in warm_up().kernels})\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.splitlines() == ["set()", "{'compiled'} {'ready'}"]


def test_warmup_names_kernels_and_tells_progress() -> None:
    steps = []
    done = warm_up(lambda n, total: steps.append((n, total)))
    assert steps[-1][0] == steps[-1][1] == len(steps)
    assert {kernel.name for kernel in done.kernels} <= set(kernels())
    assert {"bm25.search", "cosine.search", "fusion.align"} <= {kernel.name for kernel in done.kernels}
    assert done.seconds > 0


def test_a_real_collection(collections: Path, tmp_path: Path) -> None:
    """Arabic questions to paragraphs: the whole way, and every figure again by ir_measures from the files."""
    data = load_dataset(str(collections / "arcd"))
    names = ["zerda", "rrf(k=60)", "convex(norm=tmm,alpha=0.2)", "condorcet"]
    plan = Request.parse(embedder="lsa", variants=names, depth=100, sample=300).plan(data)
    result = measure(plan, tmp_path, Stages(), cache_dir=tmp_path / "cache")
    assert plan.analyzer.name == "arabic"
    assert result.row("bm25").mean["nDCG@10"] > 0.75
    check_against_ir_measures(result, ResultPaths.of(tmp_path, "arcd", plan.run_id), plan.dataset.qrels)
