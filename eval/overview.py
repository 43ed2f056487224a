"""All results of a folder on one page: the index that results/README.md is."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zerda_bench.eval.results import SCHEMA, Result, Row
from zerda_bench.eval.tables import markdown
from zerda_bench.eval.variants import DEFAULT_FUSION

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Line", "lines_of", "newest", "overview_csv", "overview_markdown", "overview_table", "read_results"]

_HEADER = (
    "collection",
    "documents",
    "queries",
    "measure",
    "best single leg",
    "value",
    "best fusion",
    "value",
    "difference",
    DEFAULT_FUSION,
    "difference",
)
_TEXT_COLUMNS = ("collection", "measure", "best single leg", "best fusion")
_NONE = "-"
_PAGE = """\
# Results

Written by `zerda-bench show {folder} --markdown`, one line a run. Differences are to the best single leg. The best
fusion is picked after the fact, on the queries it is measured on; `{default}`, the default of the retriever classes,
is not.

{table}
## Where fusion loses to a single leg

{losses}

## Commands

Collections by path are named by their folder.

"""


@dataclass(frozen=True)
class Line:
    """One result in brief: the first measure of the best single leg, of the best fusion and of the default fusion."""

    result: Result
    leg: Row | None
    fusion: Row | None
    default: Row | None
    fusions: int
    losing: int

    @classmethod
    def of(cls, result: Result) -> Line:
        """The line of a result."""
        measure = result.measures[0]
        leg = result.best(leg=True)
        fusions = [row for row in result.rows if not row.is_leg]
        return cls(
            result=result,
            leg=leg,
            fusion=result.best(leg=False),
            default=next((row for row in fusions if row.variant == DEFAULT_FUSION), None),
            fusions=len(fusions),
            losing=sum(leg is not None and row.mean[measure] < leg.mean[measure] for row in fusions),
        )

    @property
    def measure(self) -> str:
        """The measure that orders the result."""
        return self.result.measures[0]

    def value(self, row: Row | None) -> float | None:
        """The measure of a row, where there is one."""
        return None if row is None else row.mean[self.measure]

    def gain(self, row: Row | None) -> float | None:
        """How far a row is above the best single leg."""
        value, base = self.value(row), self.value(self.leg)
        return None if value is None or base is None else value - base

    @property
    def cells(self) -> list[str]:
        """The columns of `_HEADER`."""
        counts = self.result.document["dataset"]["counts"]
        return [
            self.result.dataset,
            str(counts["documents"]),
            str(counts["judged_queries"]),
            self.measure,
            _NONE if self.leg is None else self.leg.variant,
            _shown(self.value(self.leg)),
            _NONE if self.fusion is None else self.fusion.variant,
            _shown(self.value(self.fusion)),
            _shown(self.gain(self.fusion), "+.4f"),
            _shown(self.value(self.default)),
            _shown(self.gain(self.default), "+.4f"),
        ]


def read_results(folder: str | os.PathLike[str]) -> list[Result]:
    """All results below a folder, by collection and run id. JSON files of other kinds are left alone.

    Raises
    ------
    ValueError
        If there is no result, or one is damaged.
    """
    results = []
    for path in sorted(Path(folder).rglob("*.json")):
        try:
            document = json.loads(path.read_bytes())
        except ValueError as error:
            raise ValueError(f"{path} is no JSON, or cut short: {error}") from None
        if isinstance(document, dict) and document.get("schema") == SCHEMA:
            results.append(Result.read(path))
    if not results:
        raise ValueError(f"{folder} holds no results; zerda-bench run writes them")
    return sorted(results, key=lambda result: (result.dataset, result.run_id))


def newest(results: Sequence[Result]) -> list[Result]:
    """Of runs of one collection by the same command, such as before and after a change of the code, the newest."""
    latest: dict[tuple[str, str], Result] = {}
    for result in results:
        key = (result.dataset, result.document["command"])
        if key not in latest or result.document["created"] >= latest[key].document["created"]:
            latest[key] = result
    return list(latest.values())


def lines_of(results: Sequence[Result]) -> list[Line]:
    """One line a result."""
    return [Line.of(result) for result in results]


def overview_table(results: Sequence[Result]) -> Table:
    """The overview for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in _HEADER:
        table.add_column(name, justify="left" if name in _TEXT_COLUMNS else "right", overflow="fold")
    for line in lines_of(results):
        table.add_row(*map(Text, line.cells))
    return table


def overview_csv(results: Sequence[Result]) -> str:
    """The overview as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_HEADER, "command"])
    writer.writerows([*line.cells, line.result.document["command"]] for line in lines_of(results))
    return stream.getvalue()


def overview_markdown(results: Sequence[Result], folder: str | os.PathLike[str]) -> str:
    """The overview as a Markdown page that lies in `folder`: table, where fusion loses, and the command of each row."""
    lines = lines_of(results)
    root = Path(folder)
    rows = [
        [
            f"`{cell}`" if name.startswith("best") and cell != _NONE else cell
            for name, cell in zip(_HEADER, line.cells, strict=True)
        ]
        for line in lines
    ]
    table = markdown(_HEADER, rows, left=[name in _TEXT_COLUMNS for name in _HEADER])
    commands = markdown(
        ["collection", "command", "result"],
        [[line.result.dataset, f"`{line.result.document['command']}`", _link(line.result, root)] for line in lines],
    )
    losses = "\n".join(_losses(lines))
    page = _PAGE.format(folder=root.resolve().name, default=DEFAULT_FUSION, table=table, losses=losses)
    return page + commands


def _losses(lines: Sequence[Line]) -> list[str]:
    """Plain sentences on every collection where a fusion stays behind its best single leg."""
    said = []
    for line in lines:
        if line.leg is None or not line.losing:
            continue
        words = [f"{line.losing} of {line.fusions} fusion variants lose to `{line.leg.variant}` on {line.measure}"]
        best, default = line.gain(line.fusion), line.gain(line.default)
        if best is not None and best <= 0.0:
            words.append("**no fusion beats it**")
        if default is not None and default < 0.0:
            words.append(f"the default `{DEFAULT_FUSION}` is among them ({default:+.4f})")
        said.append(f"- {line.result.dataset}: {'; '.join(words)}.")
    return said or ["Nowhere in these runs."]


def _link(result: Result, root: Path) -> str:
    if result.path is None:
        return result.run_id
    return f"[{result.run_id}]({result.path.relative_to(root).as_posix()})"


def _shown(value: float | None, form: str = ".4f") -> str:
    return _NONE if value is None else format(value, form)
