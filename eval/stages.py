"""How long each stage of an experiment took, how much memory it reached, and who is told meanwhile."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["PEAK_RSS", "Progress", "Report", "Stage", "Stages", "peak_rss_bytes"]

#: What `peak_rss_bytes` is; part of every result.
PEAK_RSS = (
    "largest resident set of the whole process up to the end of the stage (getrusage ru_maxrss), which never falls: "
    "a stage's own need is what it adds"
)

#: Told how much is done and how much there is.
Report = Callable[[int, int], None]


class Progress(Protocol):
    """Who is told how far an experiment is: a progress bar, or anything of yours. One stage runs at a time."""

    def begin(self, stage: str) -> None:
        """A stage begins; it may be one that has run before."""

    def update(self, done: int, total: int) -> None:
        """So much of the stage is done. Stages that cannot know never say."""

    def end(self) -> None:
        """The stage is over, finished or failed."""


@dataclass(slots=True)
class Stage:
    """Cost of a stage; one that runs several times adds up.

    Attributes
    ----------
    name : str
    seconds : float
        Wall time.
    cpu_seconds : float
        Processor time of all threads of the process.
    peak_rss_bytes : int or None
        See `PEAK_RSS`; None where the system does not tell.
    """

    name: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_bytes: int | None = None


class Stages:
    """Clock of an experiment: ``with stages("index") as report: ...; report(done, total)``.

    Attributes
    ----------
    last_seconds : float
        Wall time of the block that ended last.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.last_seconds = 0.0
        self._progress = progress
        self._stages: dict[str, Stage] = {}

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[Report]:
        """Time the block as (a further part of) the stage `name`."""
        stage = self._stages.setdefault(name, Stage(name))
        progress = self._progress
        if progress is not None:
            progress.begin(name)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield progress.update if progress is not None else _ignore
        finally:
            self.last_seconds = time.perf_counter() - wall
            stage.seconds += self.last_seconds
            stage.cpu_seconds += time.process_time() - cpu
            stage.peak_rss_bytes = peak_rss_bytes()
            if progress is not None:
                progress.end()

    def __iter__(self) -> Iterator[Stage]:
        """Stages in the order in which they first began."""
        return iter(self._stages.values())


def _ignore(done: int, total: int) -> None:
    """Nobody wants to know."""


def peak_rss_bytes() -> int | None:
    """Largest resident set of this process so far, or None where the system does not tell (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024  # macOS counts bytes, others KiB
