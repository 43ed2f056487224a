"""What the commands share: options, streams, progress bars."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.progress import TaskID
    from rich.table import Table

__all__ = [
    "AsJson",
    "Bars",
    "Debug",
    "Quiet",
    "UsageError",
    "explained",
    "messages",
    "one_line",
    "print_json",
    "print_table",
    "usage",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on stdout.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, notes or warnings.")]


class UsageError(Exception):
    """The command line asks for something that does not exist."""


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """Turn complaints about arguments into usage errors."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error


def explained(error: Exception) -> tuple[str, int]:
    """What to tell the user, and the exit code."""
    from zerda_bench.eval.datasets import DatasetError

    # typer has its own copy of click or uses the installed one: its usage errors are the base of BadParameter.
    usage_error = typer.BadParameter.__bases__[0]
    if isinstance(error, usage_error):
        return one_line(error.format_message()) or "wrong usage; see --help", 2  # type: ignore[attr-defined]
    if isinstance(error, UsageError):
        return one_line(str(error)), 2
    if isinstance(error, OSError) and error.strerror and error.filename:
        return one_line(f"{error.filename}: {error.strerror}"), 1
    if isinstance(error, (DatasetError, ValueError, TypeError, ImportError, OSError)):
        return one_line(str(error)) or type(error).__name__, 1
    return one_line(f"internal error: {type(error).__name__}: {error} (--debug shows where)"), 1


def one_line(text: str) -> str:
    """`text` with every run of whitespace as one blank."""
    return " ".join(text.split())


def print_json(document: Any) -> None:
    """Print a JSON document on stdout; ASCII, so that any terminal or pipe takes it."""
    print(json.dumps(document, indent=2, allow_nan=False))


def print_table(table: Table) -> None:
    """Print a table on stdout: as wide as the terminal, or as wide as it needs in a pipe or file."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=sys.stdout)
    if not console.is_terminal:
        wide = Console(width=10_000)
        needed = Measurement.get(wide, wide.options, table).maximum
        console = Console(file=sys.stdout, width=max(needed, 40))
    console.print(table)


class _OnStderr(logging.Handler):
    """Log records as one line each, on whatever stderr is at that moment: progress bars replace it for a while."""

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):
            print(f"{record.levelname.lower()}: {one_line(self.format(record))}", file=sys.stderr)


@contextlib.contextmanager
def messages(quiet: bool) -> Iterator[None]:
    """Show the library's warnings on stderr for a while."""
    logger = logging.getLogger("zerda_bench")
    handler = _OnStderr(logging.ERROR if quiet else logging.WARNING)
    propagate = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


class Bars:
    """Progress of an experiment on stderr: a bar a stage, gone when all is done. Nothing where stderr is no terminal.

    Implements `zerda_bench.eval.stages.Progress`; use it as a context manager.
    """

    def __init__(self, quiet: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._stage = ""

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, stage: str) -> None:
        """Show the bar of `stage`; it moves once `update` has said how much there is."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=None)
        self._stage = stage

    def update(self, done: int, total: int) -> None:
        """Move the bar."""
        self._bars.update(self._tasks[self._stage], completed=done, total=total)

    def end(self) -> None:
        """Hide the bar, unless the stage will go on later."""
        task = self._tasks[self._stage]
        known = {one.id: one for one in self._bars.tasks}[task]
        if known.total is None or known.completed >= known.total:
            self._bars.remove_task(task)
            del self._tasks[self._stage]
