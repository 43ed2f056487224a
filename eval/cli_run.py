"""``zerda-bench run``: measure variants on collections."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zerda_bench.eval.cli_output import (
    AsJson,
    Bars,
    Debug,
    Quiet,
    UsageError,
    explained,
    messages,
    print_json,
    print_table,
    usage,
)
from zerda_bench.eval.plan import DEFAULT_B, DEFAULT_DEPTH, DEFAULT_K1

if TYPE_CHECKING:
    from zerda_bench.eval.datasets import Dataset
    from zerda_bench.eval.plan import Request
    from zerda_bench.eval.results import Result

__all__ = ["run"]

_DATASETS = "pydocs, an ir_datasets id, or a folder in BEIR layout; see: zerda-bench datasets."
_VARIANT = "all, bm25, dense, or a fusion method such as 'rrf(k=60)'; repeatable. See: zerda-bench variants."
_MEASURE = "Any measure of ir_measures, such as nDCG@10; repeatable. The first one orders the table."


def run(
    datasets: Annotated[list[str] | None, typer.Argument(help=_DATASETS, show_default="pydocs")] = None,
    docs: Annotated[Path | None, typer.Option(help="TREC-style documents: SGML, .jsonl or .tsv.")] = None,
    queries: Annotated[Path | None, typer.Option(help="TREC-style topics, .jsonl or .tsv.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC-style judgments: four columns.")] = None,
    split: Annotated[str | None, typer.Option(help="Of a BEIR folder.", show_default="test, or the only one")] = None,
    analyzer: Annotated[
        str | None,
        typer.Option(help="zerda, english, arabic, with parameters.", show_default="by the collection's language"),
    ] = None,
    k1: Annotated[float, typer.Option(help="Of BM25; the default is the specification's.")] = DEFAULT_K1,
    b: Annotated[float, typer.Option(help="Of BM25; the default is the specification's.")] = DEFAULT_B,
    embedder: Annotated[
        str | None,
        typer.Option(
            help="lsa, use-multilingual, module:callable, sentence-transformers:NAME or model2vec:NAME.",
            show_default="use-multilingual where installed, else lsa",
        ),
    ] = None,
    variant: Annotated[list[str] | None, typer.Option(help=_VARIANT, show_default="all")] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help=_MEASURE, show_default="nDCG@10 nDCG@100 R@10 R@100 R@1000 AP RR@10")
    ] = None,
    depth: Annotated[int, typer.Option(help="Candidates of each leg, and hits of each ranking.")] = DEFAULT_DEPTH,
    sample: Annotated[int | None, typer.Option(help="Measure on a fixed sample of that many judged queries.")] = None,
    threads: Annotated[int | None, typer.Option(help="For search.", show_default="one a usable core")] = None,
    output: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
    cache: Annotated[
        Path | None, typer.Option(help="Folder where embeddings are kept.", show_default="the user's cache")
    ] = None,
    no_runs: Annotated[bool, typer.Option("--no-runs", help="Write no run files and no values by query.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Measure again what has been measured.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure variants on collections: print a table, and write results/<collection>/<run-id>...

    A run whose every ingredient agrees with an earlier one is not measured again.
    """
    from zerda_bench.eval.plan import Request

    jobs = _jobs(datasets, docs, queries, qrels, split)
    with usage():
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be 1 or greater, got {threads}")
        request = Request.parse(
            analyzer=analyzer,
            k1=k1,
            b=b,
            embedder=embedder,
            variants=variant or ["all"],
            measures=measure,
            depth=depth,
            sample=sample,
        )
    reports: list[dict[str, Any]] = []
    failed = False
    with messages(quiet):
        for job in jobs:
            try:
                result, reused = _measured(
                    job, request, output, cache=cache, threads=threads, runs=not no_runs, force=force, quiet=quiet
                )
            except Exception as error:
                if debug or len(jobs) == 1:
                    raise
                failed = True
                reason, _ = explained(error)
                print(f"zerda-bench: {reason}", file=sys.stderr)
                reports.append({"dataset": job.name, "error": reason})
                continue
            reports.append({"file": str(result.path), "reused": reused, "result": result.document})
            if not as_json:
                _show(result, reused, quiet)
    if as_json:
        print_json({"results": reports})
    if failed:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Job:
    """A collection to measure: how to load it, and the arguments that name it without machine paths."""

    name: str
    reference: tuple[str, ...]
    load: Callable[[], Dataset]


def _jobs(
    names: list[str] | None, docs: Path | None, queries: Path | None, qrels: Path | None, split: str | None
) -> list[_Job]:
    files = {"--docs": docs, "--queries": queries, "--qrels": qrels}
    given = {option: path for option, path in files.items() if path is not None}
    if not given:
        return [_named_job(name, split) for name in names or ["pydocs"]]
    if names or split is not None:
        raise UsageError(f"give either DATASET and --split or {', '.join(files)}, not both")
    if docs is None or queries is None or qrels is None:
        missing = ", ".join(option for option in files if option not in given)
        raise UsageError(f"{', '.join(files)} belong together; missing: {missing}")
    paths = (docs, queries, qrels)
    reference = tuple(word for option, path in given.items() for word in (option, path.name))

    def load() -> Dataset:
        from zerda_bench.eval.datasets import load_trec

        return load_trec(*paths)

    return [_Job(docs.name, reference, load)]


def _named_job(name: str, split: str | None) -> _Job:
    def load() -> Dataset:
        from zerda_bench.eval.datasets import load_dataset

        return load_dataset(name, split=split)

    known = Path(name).resolve().name if Path(name).is_dir() else name
    return _Job(name, (known,) if split is None else (known, "--split", split), load)


def _measured(
    job: _Job,
    request: Request,
    output: Path,
    *,
    cache: Path | None,
    threads: int | None,
    runs: bool,
    force: bool,
    quiet: bool,
) -> tuple[Result, bool]:
    """The result, and whether it had been measured before."""
    from zerda_bench.eval.record import measure, recorded
    from zerda_bench.eval.stages import Stages

    with Bars(quiet) as bars:
        stages = Stages(bars)
        with stages("load"):
            dataset = job.load()
        plan = request.plan(dataset, reference=job.reference)
        if not force:
            earlier = recorded(plan, output, runs=runs)
            if earlier is not None:
                return earlier, True
        for notice in () if quiet else plan.dataset.notices:
            print(f"note: {dataset.name}: {notice}", file=sys.stderr)
        return measure(plan, output, stages, threads=threads, cache_dir=cache, runs=runs), False


def _show(result: Result, reused: bool, quiet: bool) -> None:
    from zerda_bench.eval.tables import headline, result_table, verdict

    print(headline(result))
    print_table(result_table(result))
    print(verdict(result))
    if not quiet:
        sys.stdout.flush()
        said = "measured before; --force measures again" if reused else "written"
        print(f"{said}: {result.path}", file=sys.stderr)
