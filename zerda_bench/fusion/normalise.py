"""Bringing the scores of a leg to a common scale, query by query.

Each function maps a leg of a pool to ``float64[n_entries]``. A document that the leg did not find gets what it would be
worth at most: 0, the bottom of the scale, for all but `zscore`, where that is the lowest score of the list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zerda_bench.fusion.pool import Pool

__all__ = ["NORMALISATIONS", "normalise"]

Scores = NDArray[np.float64]

#: The lowest score that a leg of that name can give.
FLOORS = {"bm25": 0.0, "dense": -1.0}


def _divide(numerator: Scores, denominator: Scores, otherwise: float) -> Scores:
    """Quotient; `otherwise` where the denominator is 0."""
    result = np.full(numerator.shape, otherwise)
    np.divide(numerator, denominator, out=result, where=denominator != 0.0)
    return result


def minmax(pool: Pool, leg: int) -> Scores:
    """``(s - min) / (max - min)`` of the list; 1 for every hit where all scores are equal."""
    stats, q = pool.statistics(leg), pool.queries
    return _divide(pool.scores[:, leg] - stats.minimum[q], (stats.maximum - stats.minimum)[q], 1.0)


def tmm(pool: Pool, leg: int) -> Scores:
    """``(s - floor) / (max - floor)``, floor the lowest score there can be (Bruch, Gai and Ingber 2023).

    Raises
    ------
    ValueError
        If the floor of a leg of that name is not known, or a score lies below it.
    """
    name = pool.legs[leg]
    if name not in FLOORS:
        raise ValueError(f"norm=tmm needs the lowest possible score of leg {name!r}; known for: {', '.join(FLOORS)}")
    floor = FLOORS[name]
    if (lowest := pool.statistics(leg).minimum.min(initial=floor)) < floor:
        raise ValueError(f"norm=tmm takes scores of leg {name!r} to be {floor:g} at least, but one is {lowest:g}")
    return _divide(pool.scores[:, leg] - floor, pool.statistics(leg).maximum[pool.queries] - floor, 1.0)


def zscore(pool: Pool, leg: int) -> Scores:
    """``(s - mean) / sd`` with the population's standard deviation; 0 where all scores are equal."""
    stats, q = pool.statistics(leg), pool.queries
    deviation = stats.deviation(sample=False)
    scaled = _divide(minmax(pool, leg) - stats.mean[q], deviation[q], 0.0)
    lowest = _divide(-stats.mean, deviation, 0.0)
    return np.where(pool.found[:, leg], scaled, lowest[q])


def maximum(pool: Pool, leg: int) -> Scores:
    """``s`` over the greatest absolute score of the list; 0 where all are 0."""
    stats = pool.statistics(leg)
    return _divide(pool.scores[:, leg], np.maximum(np.abs(stats.minimum), np.abs(stats.maximum))[pool.queries], 0.0)


def total(pool: Pool, leg: int) -> Scores:
    """``(s - min)`` over the sum of ``(s - min)``; an equal share for every hit where all scores are equal."""
    stats, q = pool.statistics(leg), pool.queries
    share = _divide(pool.scores[:, leg] - stats.minimum[q], stats.above_minimum[q], 0.0)
    return np.where((stats.maximum == stats.minimum)[q], 1.0 / np.maximum(stats.count, 1.0)[q], share)


def rank(pool: Pool, leg: int) -> Scores:
    """``1 - (rank - 1) / n`` in a list of n."""
    n = np.bincount(pool.queries[pool.found[:, leg]], minlength=pool.n_queries)
    return 1.0 - (pool.ranks[:, leg] - 1.0) / np.maximum(n, 1)[pool.queries]


def dbsf(pool: Pool, leg: int) -> Scores:
    """``(s - (mean - 3 sd)) / (6 sd)``, sd that of a sample; 0.5 where it is 0.

    Distribution-based score fusion (Mazzeschi 2023). Scores more than 3 sd from the mean leave [0, 1]: cutting them
    there would make ties of the best hits, which in a list of BM25 scores are far out.
    """
    stats, q = pool.statistics(leg), pool.queries
    deviation = stats.deviation(sample=True)
    return _divide(minmax(pool, leg) - (stats.mean - 3 * deviation)[q], 6 * deviation[q], 0.5)


#: Name in a method's parameters -> function.
NORMALISATIONS: dict[str, Callable[[Pool, int], Scores]] = {
    "minmax": minmax,
    "tmm": tmm,
    "zscore": zscore,
    "max": maximum,
    "sum": total,
    "rank": rank,
    "dbsf": dbsf,
}


def normalise(pool: Pool, norm: str) -> Scores:
    """All legs under one normalisation, ``float64[n_entries, n_legs]``."""
    table = np.empty(pool.scores.shape)
    for leg in range(len(pool.legs)):
        values = NORMALISATIONS[norm](pool, leg)
        table[:, leg] = values if norm == "zscore" else np.where(pool.found[:, leg], values, 0.0)
    return table
