"""Running a batch of queries on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["run_batches"]


def run_batches(task: Callable[[int, int], None], n_queries: int, batch: int, n_threads: int | None) -> None:
    """Run ``task(start, stop)`` over consecutive slices of a batch, on `n_threads` threads (None: one a usable core).

    Kernels release the GIL and write to slices of their own, so the answer does not depend on `n_threads`.

    Raises
    ------
    ValueError
        If `n_threads` is less than 1.
    """
    if n_threads is None:
        n_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    elif n_threads < 1:
        raise ValueError(f"n_threads must be 1 or greater, got {n_threads}")
    slices = [(start, min(start + batch, n_queries)) for start in range(0, n_queries, batch)]
    if n_threads == 1 or len(slices) < 2:
        for start, stop in slices:
            task(start, stop)
        return
    with ThreadPoolExecutor(min(n_threads, len(slices))) as pool:
        for future in [pool.submit(task, start, stop) for start, stop in slices]:
            future.result()
