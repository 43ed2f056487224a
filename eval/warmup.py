"""Compiling every kernel once, on tiny input, so that no measurement pays for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zerda_bench.fusion import FusionMethod

__all__ = ["KernelState", "Warmup", "kernels", "warm_up"]


@dataclass(frozen=True, slots=True)
class KernelState:
    """What it took to have a kernel's machine code.

    Attributes
    ----------
    name : str
        Such as ``bm25.search``.
    seconds : float
        Compile time in this call, that of other kernels it calls not counted; 0.0 where nothing was compiled.
    origin : str
        ``compiled`` now, loaded ``from cache``, or ``ready`` from an earlier call in this process.
    """

    name: str
    seconds: float
    origin: str


@dataclass(frozen=True, slots=True)
class Warmup:
    """Answer of `warm_up`.

    Attributes
    ----------
    seconds : float
        Wall time of the whole call.
    kernels : tuple of KernelState
        Those with machine code of their own in this process; one that comes from the cache within its callers is not.
    cache_directory : str or None
        Where machine code is kept; None where no folder can be written.
    """

    seconds: float
    kernels: tuple[KernelState, ...]
    cache_directory: str | None

    def count(self, origin: str) -> int:
        """Number of kernels of that origin."""
        return sum(kernel.origin == origin for kernel in self.kernels)


def warm_up(report: Callable[[int, int], None] | None = None) -> Warmup:
    """Run every kernel once on tiny input.

    Parameters
    ----------
    report : callable, optional
        Told the number of steps done and of all steps.
    """
    from numba.core import event

    from zerda_bench.kernels import CACHE_DIRECTORY

    started = time.perf_counter()
    dispatchers = kernels()
    hits_before = {name: _cache_hits(dispatcher) for name, dispatcher in dispatchers.items()}
    steps = list(_steps())
    with event.install_recorder("numba:compile") as recorder:
        for done, step in enumerate(steps, 1):
            step()
            if report is not None:
                report(done, len(steps))
    seconds = _own_seconds(recorder.buffer)
    states = []
    for name, dispatcher in dispatchers.items():
        compiled = seconds.get(id(dispatcher))
        if compiled is not None:
            origin = "compiled"
        elif _cache_hits(dispatcher) > hits_before[name]:
            origin = "from cache"
        elif dispatcher.signatures:
            origin = "ready"
        else:
            continue
        states.append(KernelState(name, compiled or 0.0, origin))
    directory = None if CACHE_DIRECTORY is None else str(CACHE_DIRECTORY)
    return Warmup(time.perf_counter() - started, tuple(states), directory)


def kernels() -> dict[str, Any]:
    """All kernels by name: the Numba functions that the modules of `zerda_bench.kernels` define."""
    from numba.core.dispatcher import Dispatcher

    import zerda_bench.kernels as package

    found = {}
    for module in vars(package).values():
        if isinstance(module, ModuleType) and module.__name__.startswith(f"{package.__name__}."):
            for value in vars(module).values():
                if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                    name = f"{module.__name__.removeprefix(package.__name__ + '.')}.{value.py_func.__name__}"
                    found[name] = value
    return dict(sorted(found.items()))


def _steps() -> Iterator[Callable[[], object]]:
    """Calls that between them run every kernel with the types it is used with."""
    import numpy as np

    from zerda_bench.dense import VectorIndex
    from zerda_bench.fusion import Pool, default_methods
    from zerda_bench.sparse import BM25Index

    texts = ["warm up", "warm kernels", "cold start"]
    legs = {}

    def sparse() -> None:
        legs["bm25"] = BM25Index.from_texts(texts).search(["warm start"], 2)

    def dense() -> None:
        legs["dense"] = VectorIndex(np.eye(3, 4, dtype=np.float32)).search(np.ones((1, 4), np.float32), 2)

    def fuse(method: FusionMethod) -> None:
        method.fuse(Pool.from_legs(legs, 2), 2)

    yield sparse
    yield dense
    yield from (partial(fuse, method) for method in default_methods())


def _cache_hits(dispatcher: Any) -> int:
    return sum(dispatcher.stats.cache_hits.values())


def _own_seconds(buffer: list[tuple[float, Any]]) -> dict[int, float]:
    """Compile time by identity of the dispatcher, each without what was compiled on its behalf."""
    own: dict[int, float] = {}
    running: list[tuple[int, float, float]] = []  # dispatcher, start, time of those nested in it
    for moment, happening in buffer:
        dispatcher = id(happening.data["dispatcher"])
        if happening.is_start:
            running.append((dispatcher, moment, 0.0))
        elif running:
            _, start, nested = running.pop()
            own[dispatcher] = own.get(dispatcher, 0.0) + (moment - start - nested)
            if running:
                outer, outer_start, outer_nested = running.pop()
                running.append((outer, outer_start, outer_nested + (moment - start)))
    return own
