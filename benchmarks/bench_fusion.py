"""Fusion: aligning the ranked lists of a batch, and each method over the aligned lists.

Measured: two seeded synthetic legs of 500 queries, sharing one document in 20 at depth 1000; all usable cores, as in
the harness. Not measured: searching the legs, and compile time (each setup runs the kernels once on the same types).
"""

from __future__ import annotations

import numpy as np

from zerda_bench.fusion import Pool, explain, parse_method
from zerda_bench.hits import Hits

_N_DOCS = 20_000
_N_QUERIES = 500
_METHODS = (
    "zerda",
    "rrf(k=60)",
    "isr",
    "convex(norm=minmax,alpha=0.5)",
    "convex(norm=zscore,alpha=0.5)",
    "convex(norm=rank,alpha=0.5)",
    "combmnz(norm=minmax)",
    "combmed(norm=minmax)",
    "borda",
    "condorcet",
)


def _leg(depth: int, low: float, high: float, seed: int) -> Hits:
    """Ranked lists of random documents with falling scores between `low` and `high`."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(_N_DOCS)
    starts = rng.integers(0, _N_DOCS, _N_QUERIES)
    ids = order[(starts[:, None] + np.arange(depth)) % _N_DOCS]
    scores = -np.sort(-rng.uniform(low, high, (_N_QUERIES, depth)), axis=1)
    return Hits(ids, scores, np.full(_N_QUERIES, depth, np.int64))


def _legs(depth: int) -> dict[str, Hits]:
    return {"bm25": _leg(depth, 0.1, 40.0, seed=3), "dense": _leg(depth, -0.1, 0.9, seed=4)}


class Align:
    """Building the pool that all methods share."""

    params = (100, 1000)
    param_names = ("depth",)

    def setup(self, depth: int) -> None:
        self.legs = _legs(depth)
        Pool.from_legs(self.legs, 10)

    def time_from_legs(self, depth: int) -> None:
        Pool.from_legs(self.legs)


class Fuse:
    """One method over a pool that is at hand; every document ranked."""

    params = (_METHODS, (100, 1000))
    param_names = ("method", "depth")
    timeout = 300

    def setup(self, method: str, depth: int) -> None:
        self.method = parse_method(method)
        self.pool = Pool.from_legs(_legs(depth))
        self.method.fuse(self.pool, depth)

    def time_fuse(self, method: str, depth: int) -> None:
        self.method.fuse(self.pool, depth)


class Explain:
    """Why one document has its score: what a user waits for at the prompt."""

    def setup(self) -> None:
        self.legs = _legs(100)
        self.doc = int(self.legs["bm25"].ids[0, 0])
        explain(self.legs, "convex(norm=minmax,alpha=0.5)", 0, self.doc)

    def time_explain(self) -> None:
        explain(self.legs, "convex(norm=minmax,alpha=0.5)", 0, self.doc)
