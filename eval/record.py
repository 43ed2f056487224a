"""Measuring a plan and writing what came out; or handing back what was measured before."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from zerda_bench.eval.experiment import Experiment, execute
from zerda_bench.eval.plan import Plan
from zerda_bench.eval.results import Result, ResultPaths, per_query_document, result_document
from zerda_bench.eval.stages import Stages
from zerda_bench.eval.storage import write_text
from zerda_bench.eval.tables import csv_table
from zerda_bench.eval.trec_run import check_ids, write_run
from zerda_bench.eval.variants import Variant
from zerda_bench.hits import Hits

__all__ = ["measure", "recorded"]


def recorded(plan: Plan, root: str | os.PathLike[str], *, runs: bool = True) -> Result | None:
    """The result of this very plan if its files are there: same run id, so everything that decides figures agrees.

    Parameters
    ----------
    plan : Plan
    root : path
        Folder of results.
    runs : bool
        Whether per-query values and run files must be there too.

    Raises
    ------
    ValueError
        If the result file is damaged.
    """
    paths = ResultPaths.of(root, plan.dataset.name, plan.run_id)
    if not paths.result.exists():
        return None
    wanted = [paths.per_query, *(paths.run(variant.slug) for variant in plan.variants)] if runs else []
    if not all(path.exists() for path in wanted):
        return None
    return Result.read(paths.result)


def measure(
    plan: Plan,
    root: str | os.PathLike[str],
    stages: Stages,
    *,
    threads: int | None = None,
    cache_dir: str | Path | None = None,
    runs: bool = True,
) -> Result:
    """Run a plan and write its files, each of them whole or not at all; the result document comes last.

    Parameters
    ----------
    plan : Plan
    root : path
        Folder of results; made where missing.
    stages : Stages
    threads, cache_dir
        See `zerda_bench.eval.experiment.run_experiment`.
    runs : bool
        Whether to write TREC run files and per-query values.

    Raises
    ------
    OSError
        If a file cannot be written, naming it. An unwritable folder is found out before anything is measured.
    ValueError
        If `runs`, and an id holds whitespace.
    """
    paths = ResultPaths.of(root, plan.dataset.name, plan.run_id)
    _check_writable(paths.folder)
    if runs:
        check_ids(plan.dataset.query_ids, "query ids")
        check_ids(plan.dataset.doc_ids, "document ids")

    def write(variant: Variant, query_ids: Sequence[str], hits: Hits) -> None:
        path = paths.run(variant.slug)
        with _naming(path):
            write_run(path, query_ids, plan.dataset.doc_ids, hits, tag=variant.name)

    experiment = execute(plan, stages, threads=threads, cache_dir=cache_dir, on_ranking=write if runs else None)
    return _write(experiment, paths, runs=runs)


def _write(experiment: Experiment, paths: ResultPaths, *, runs: bool) -> Result:
    result = Result(result_document(experiment), paths.result)
    texts = {paths.table: csv_table(result)}
    if runs:
        texts[paths.per_query] = json.dumps(per_query_document(experiment), allow_nan=False)
    texts[paths.result] = json.dumps(result.document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    for path, text in texts.items():
        with _naming(path):
            write_text(path, text)
    return result


def _check_writable(folder: Path) -> None:
    """Find out now, not after hours of measuring."""
    with _naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors name the file that was meant: a full disk names none, an atomic write a temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
