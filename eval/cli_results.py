"""``zerda-bench show`` and ``compare``: results that have been written."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerda_bench.eval.cli_output import AsJson, Debug, UsageError, print_json, print_table, usage

if TYPE_CHECKING:
    from zerda_bench.eval.compare import Comparison

__all__ = ["compare", "show"]


def show(
    result: Annotated[Path, typer.Argument(help="A result file, or a folder of results.")] = Path("results"),
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown, as in results/README.md.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Of a folder: also older runs of the same command.")] = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the table of a result file again, or an overview of all results in a folder."""
    if sum((markdown, as_csv, as_json)) > 1:
        raise UsageError("give at most one of --markdown, --csv and --json")
    if result.is_dir():
        _show_folder(result, every, markdown, as_csv, as_json)
    else:
        _show_file(result, markdown, as_csv, as_json)


def _show_file(path: Path, markdown: bool, as_csv: bool, as_json: bool) -> None:
    from zerda_bench.eval import tables
    from zerda_bench.eval.results import Result

    result = Result.read(path)
    if as_json:
        print_json(result.document)
    elif as_csv:
        print(tables.csv_table(result), end="")
    elif markdown:
        print(f"{tables.headline(result)}\n\n{tables.result_markdown(result)}\n{tables.verdict(result)}")
    else:
        print(tables.headline(result))
        print_table(tables.result_table(result))
        print(tables.verdict(result))


def _show_folder(folder: Path, every: bool, markdown: bool, as_csv: bool, as_json: bool) -> None:
    from zerda_bench.eval import overview

    found = overview.read_results(folder)
    results = found if every else overview.newest(found)
    if len(results) < len(found):
        print(f"note: {len(found) - len(results)} older runs of the same commands left out; see --all", file=sys.stderr)
    if as_json:
        print_json({"results": [{"file": str(one.path), "result": one.document} for one in results]})
    elif as_csv:
        print(overview.overview_csv(results), end="")
    elif markdown:
        print(overview.overview_markdown(results, folder), end="")
    else:
        print_table(overview.overview_table(results))


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(help="Two result files; or one, with --variant given twice.", metavar="RESULT [RESULT]"),
    ],
    variant: Annotated[
        list[str] | None,
        typer.Option(help="One: of both results. Two: the first against the second.", show_default="all in both"),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="Repeatable.", show_default="all; the first for several variants")
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare two results on one collection, or two variants of a result, by measure and query by query."""
    from zerda_bench.eval.compare import compare as compared
    from zerda_bench.eval.measures import parse_measures
    from zerda_bench.eval.results import Result

    variants = variant or []
    if len(results) > 2 or (len(results) == 1 and len(variants) != 2):
        raise UsageError("give two result files; or one, and --variant twice")
    with usage():
        measures = [str(one) for one in parse_measures(measure)] if measure else []
    read = [Result.read(path) for path in results]
    lines = compared(read[0], read[-1], variants, measures)
    if as_json:
        listed = [dataclasses.asdict(line) | {"difference": line.difference} for line in lines]
        print_json({"first": read[0].run_id, "second": read[-1].run_id, "comparisons": listed})
        return
    _print_comparison(lines)


def _print_comparison(lines: list[Comparison]) -> None:
    from rich.table import Table
    from rich.text import Text

    kept = all(line.wins is not None for line in lines)
    table = Table("variant", "measure")
    for name in ("first", "second", "difference", *(("wins", "ties", "losses") if kept else ())):
        table.add_column(name, justify="right")
    for line in lines:
        pair = line.first if line.first == line.second else f"{line.first} -> {line.second}"
        counts = (line.wins, line.ties, line.losses) if kept else ()
        values = f"{line.first_mean:.4f}", f"{line.second_mean:.4f}", f"{line.difference:+.4f}"
        table.add_row(Text(pair), line.measure, *values, *map(str, counts))
    print_table(table)
