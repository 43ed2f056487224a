"""Fusion: aligning two legs of a batch, and each kind of method on the aligned lists.

Measured: 500 queries, two legs of 1,000 hits each over 50,000 documents, about half in common. Not measured: searching,
and compile time (each setup runs the kernels once on the same types).
"""

from __future__ import annotations

import numpy as np

from zerda_bench.fusion import Pool, parse_method
from zerda_bench.hits import Hits

_N_QUERIES, _DEPTH = 500, 1000


def _legs() -> dict[str, Hits]:
    rng = np.random.default_rng(0)
    legs = {}
    for name in ("bm25", "dense"):
        ids = np.stack([rng.permutation(2 * _DEPTH)[:_DEPTH] * 25 for _ in range(_N_QUERIES)])
        scores = -np.sort(-rng.random((_N_QUERIES, _DEPTH)), axis=1)
        legs[name] = Hits(ids, scores, np.full(_N_QUERIES, _DEPTH))
    return legs


class Align:
    """Building the pool."""

    def setup(self) -> None:
        self.legs = _legs()
        Pool.from_legs(self.legs, 10)

    def time_pool(self) -> None:
        Pool.from_legs(self.legs)


class Fuse:
    """One method on a pool."""

    params = (
        ["rrf(k=60)", "zerda", "convex(norm=minmax,alpha=0.5)", "combmnz(norm=zscore)", "combmed(norm=minmax)",
         "borda", "condorcet"],
        [10, 1000],
    )  # fmt: skip
    param_names = ("method", "k")

    def setup(self, method: str, k: int) -> None:
        legs = _legs()
        self.pool = Pool.from_legs(legs)
        self.method = parse_method(method)
        self.method.fuse(Pool.from_legs({name: hits.head(10) for name, hits in legs.items()}), k)

    def time_fuse(self, method: str, k: int) -> None:
        self.method.fuse(self.pool, k)
