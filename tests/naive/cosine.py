"""Cosine similarity, one pair at a time: the rounding of the index, then plain Python sums."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np


def unit(vector: Sequence[float]) -> list[float]:
    """The vector at length 1, rounded to float32; a zero vector as it is. Exact sum of squares by `math.fsum`."""
    largest = max((abs(float(x)) for x in vector), default=0.0)
    if largest == 0.0:
        return [0.0] * len(vector)
    scaled = [float(x) / largest for x in vector]
    norm = math.sqrt(math.fsum(x * x for x in scaled))
    return [float(np.float32(x / norm)) for x in scaled]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Sum over ascending dimensions, clipped to [-1, 1]."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return min(1.0, max(-1.0, total))


def search(
    units: Sequence[Sequence[float]],
    query: Sequence[float],
    k: int,
    min_score: float = -math.inf,
    allow: Collection[int] | None = None,
) -> list[tuple[int, float]]:
    """The k most similar allowed rows, of unit vectors that are given."""
    scores = [(i, dot(row, query)) for i, row in enumerate(units)]
    hits = [(i, s) for i, s in scores if s >= min_score and (allow is None or i in allow)]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
