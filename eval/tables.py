"""Results as tables: for a terminal, CSV and Markdown; and in one honest sentence."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from zerda_bench.eval.results import Result, Row
from zerda_bench.eval.variants import DEFAULT_FUSION

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["csv_table", "markdown", "result_markdown", "result_table", "verdict"]

_LEG_MARK = " (single leg)"


def result_table(result: Result) -> Table:
    """The table for a terminal: best value of each column in bold, single legs marked."""
    from rich.table import Table
    from rich.text import Text

    # As narrow as can be: the default measures and most names then fit a terminal of 80 columns.
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="underline")
    table.add_column("variant", overflow="fold")
    for measure in result.measures:
        table.add_column(measure, justify="right", no_wrap=True)
    best = _best_of_columns(result)
    for row in result.rows:
        cells = [
            Text(f"{row.mean[measure]:.4f}", style="bold" if _is_best(row, measure, best) else "")
            for measure in result.measures
        ]
        table.add_row(Text(_label(row)), *cells, style="cyan" if row.is_leg else "")
    return table


def headline(result: Result) -> str:
    """What was measured, in one line."""
    document = result.document
    counts = document["dataset"]["counts"]
    parts = [f"{result.dataset}: {counts['documents']} documents, {counts['judged_queries']} judged queries"]
    sample = document["dataset"]["sample"]
    if sample is not None:
        parts[0] += f" (a fixed sample of {sample['of']})"
    if document["analyzer"] is not None:
        bm25 = document["bm25"]
        parts.append(f"bm25 on {document['analyzer']['name']} (k1={bm25['k1']:g}, b={bm25['b']:g})")
    if document["embedder"] is not None:
        parts.append(f"dense on {document['embedder']['name']}")
    return "; ".join(parts)


def result_markdown(result: Result) -> str:
    """The table in Markdown: best value of each column in bold, single legs in italics."""
    best = _best_of_columns(result)
    lines = []
    for row in result.rows:
        cells = [f"{row.mean[m]:.4f}" for m in result.measures]
        bold = [
            f"**{cell}**" if _is_best(row, m, best) else cell for m, cell in zip(result.measures, cells, strict=True)
        ]
        lines.append([f"*{_label(row)}*" if row.is_leg else f"`{row.variant}`", *bold])
    return markdown(["variant", *result.measures], lines, left=[True] + [False] * len(result.measures))


def csv_table(result: Result) -> str:
    """The table as CSV, in its order, with values in full precision."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["variant", "kind", *result.measures])
    for row in result.rows:
        values = [repr(row.mean[measure]) for measure in result.measures]
        writer.writerow([row.variant, "leg" if row.is_leg else "fusion", *values])
    return stream.getvalue()


def verdict(result: Result) -> str:
    """Whether fusion helped, on the first measure: best against best, and how many variants lose."""
    measure = result.measures[0]
    leg, fusion = result.best(leg=True), result.best(leg=False)
    if leg is None or fusion is None:
        return f"No fusion was measured; the best single leg on {measure} is {result.rows[0].variant}."
    base, best = leg.mean[measure], fusion.mean[measure]
    values = f"{fusion.variant} ({best:.4f})", f"the best single leg, {leg.variant} ({base:.4f})"
    if best > base:
        said = f"The best fusion, {values[0]}, beats {values[1]}, on {measure} by {_margin(best, base)}."
    elif best == base:
        said = f"No fusion beats {values[1]}, on {measure}: the best, {values[0]}, equals it."
    else:
        said = f"No fusion beats {values[1]}, on {measure}: the best, {values[0]}, is behind by {_margin(best, base)}."
    fusions = [row for row in result.rows if not row.is_leg]
    losing = sum(row.mean[measure] < base for row in fusions)
    said += f" {losing} of {len(fusions)} fusion variants lose to {leg.variant} alone"
    default = next((row for row in fusions if row.variant == DEFAULT_FUSION), None)
    if default is None:
        return said + "."
    value = default.mean[measure]
    word = "beats it by" if value > base else "loses to it by" if value < base else "equals it"
    margin = "" if value == base else f" {_margin(value, base)}"
    return f"{said}; the default, {DEFAULT_FUSION} ({value:.4f}), {word}{margin}."


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: Sequence[bool] | None = None) -> str:
    """A Markdown table; columns that are not `left` are aligned to the right."""
    rules = ["---" if is_left else "---:" for is_left in left or [True] * len(header)]
    lines = [header, rules, *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _margin(value: float, base: float) -> str:
    """How far two values are apart, and the share of `base` that is."""
    difference = abs(value - base)
    return f"{difference:.4f}" + (f" ({100.0 * difference / base:.1f} %)" if base > 0.0 else "")


def _label(row: Row) -> str:
    return row.variant + (_LEG_MARK if row.is_leg else "")


def _best_of_columns(result: Result) -> dict[str, float]:
    return {measure: max(row.mean[measure] for row in result.rows) for measure in result.measures}


def _is_best(row: Row, measure: str, best: dict[str, float]) -> bool:
    """Whether the value is the column's best as the table shows it: equal figures are equally bold."""
    return f"{row.mean[measure]:.4f}" == f"{best[measure]:.4f}"
