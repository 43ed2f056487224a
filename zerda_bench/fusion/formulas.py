"""The formulas of the fusion methods.

Each takes a pool and its parameters and gives the score of every entry: ``float64[n_entries, n_legs]``, the share of
each leg, to be added up in leg order; or ``float64[n_entries]`` where the score is no sum over legs. Ranks start at 1;
a leg that did not find a document adds 0 unless a docstring says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.fusion.normalise import normalise

if TYPE_CHECKING:
    from zerda_bench.fusion.pool import Pool

__all__ = [
    "borda",
    "combanz",
    "combmax",
    "combmed",
    "combmin",
    "combmnz",
    "combsum",
    "condorcet",
    "convex",
    "isr",
    "rrf",
    "zerda",
    "zerda_documented",
]

Scores = NDArray[np.floating[Any]]


def _by_rank(pool: Pool, values: Scores) -> Scores:
    """`values` where the leg found the document, else 0."""
    return np.where(pool.found, values, 0.0)


def _legs_that_found(pool: Pool) -> Scores:
    """How many legs found each document, ``float64[n_entries, 1]``; at least one did."""
    n: Scores = pool.found.sum(axis=1, keepdims=True, dtype=np.float64)
    return n


def _share(weights: tuple[float, ...] | None, pool: Pool) -> Scores:
    """Weights that add up to 1, ``float64[n_legs]``.

    Raises
    ------
    ValueError
        If there are not as many weights as legs.
    """
    n_legs = len(pool.legs)
    if weights is None:
        return np.full(n_legs, 1.0 / n_legs)
    if len(weights) != n_legs:
        raise ValueError(f"weights has {len(weights)} numbers for {n_legs} legs ({', '.join(pool.legs)})")
    return np.array(weights) / sum(weights)


def rrf(pool: Pool, *, k: float, weights: tuple[float, ...] | None) -> Scores:
    """Reciprocal rank fusion: the sum of ``1 / (k + rank)``.

    Weights are scaled so that equal ones change nothing.
    """
    scale = 1.0 if weights is None else _share(weights, pool) * len(pool.legs)
    return _by_rank(pool, scale / (k + np.maximum(pool.ranks, 1)))


def isr(pool: Pool) -> Scores:
    """Inverse square rank: the sum of ``1 / rank^2``, times the number of legs that found the document."""
    inverse = _by_rank(pool, 1.0 / np.maximum(pool.ranks, 1.0) ** 2)
    return inverse * _legs_that_found(pool)


def combsum(pool: Pool, *, norm: str) -> Scores:
    """The sum of normalised scores."""
    return normalise(pool, norm)


def combmnz(pool: Pool, *, norm: str) -> Scores:
    """The sum of normalised scores, times the number of legs that found the document."""
    return normalise(pool, norm) * _legs_that_found(pool)


def combanz(pool: Pool, *, norm: str) -> Scores:
    """The mean normalised score over the legs that found the document."""
    return _by_rank(pool, normalise(pool, norm)) / _legs_that_found(pool)


def combmax(pool: Pool, *, norm: str) -> Scores:
    """The highest normalised score among the legs that found the document."""
    scores: Scores = np.where(pool.found, normalise(pool, norm), -np.inf).max(axis=1)
    return scores


def combmin(pool: Pool, *, norm: str) -> Scores:
    """The lowest normalised score among the legs that found the document."""
    scores: Scores = np.where(pool.found, normalise(pool, norm), np.inf).min(axis=1)
    return scores


def combmed(pool: Pool, *, norm: str) -> Scores:
    """The median normalised score among the legs that found the document."""
    ordered = np.sort(np.where(pool.found, normalise(pool, norm), np.inf), axis=1)
    n, rows = pool.found.sum(axis=1), np.arange(len(ordered))
    middle: Scores = (ordered[rows, (n - 1) // 2] + ordered[rows, n // 2]) / 2.0
    return middle


def convex(pool: Pool, *, norm: str, alpha: float, weights: tuple[float, ...] | None) -> Scores:
    """``alpha`` times the normalised score of the dense leg plus ``1 - alpha`` times that of the other.

    The dense leg is the one named so, else the second. `weights`, one a leg, serve any number of legs instead.
    """
    if weights is None:
        if len(pool.legs) != 2:
            raise ValueError(f"convex with alpha takes two legs, not {len(pool.legs)}; give weights, one a leg")
        dense = pool.legs.index("dense") if "dense" in pool.legs else 1
        weights = (1.0 - alpha, alpha) if dense == 1 else (alpha, 1.0 - alpha)
    return normalise(pool, norm) * _share(weights, pool)


def borda(pool: Pool) -> Scores:
    """Borda count: of c documents, rank r earns ``c - r + 1`` points; those not found share the points left over."""
    q = pool.queries
    c = np.diff(pool.offsets)[q][:, None]
    n = np.stack([np.bincount(q[found], minlength=pool.n_queries) for found in pool.found.T], axis=1)[q]
    points: Scores = np.where(pool.found, c - pool.ranks + 1.0, (c - n + 1.0) / 2.0)
    return points


def condorcet(pool: Pool) -> Scores:
    """How many other documents a majority of legs puts below this one; an even vote counts a half (Copeland)."""
    from zerda_bench.kernels import fusion

    wins = np.empty(len(pool.docs))
    fusion.pairwise_wins(pool.offsets, pool.ranks, wins)
    return wins


def zerda_documented(pool: Pool, *, vector: float, keyword: float) -> Scores:
    """The specification's weighted sum: cosines as they are, BM25 over its highest score of the query.

    The retriever drops cosines below 0: they count as not found, and a document that no other leg found is left out
    (its score is ``-inf``). BM25 scores of a query that has none above 0 add nothing. Legs are told apart by name.

    Raises
    ------
    ValueError
        If a leg is named neither ``bm25`` nor ``dense``.
    """
    kept = _zerda_kept(pool)
    table = np.zeros(pool.scores.shape)
    for leg, name in enumerate(pool.legs):
        stats = pool.statistics(leg)  # refuses scores that are no numbers
        scores = np.where(kept[:, leg], pool.scores[:, leg], 0.0)
        if name == "bm25":
            best = np.where(stats.maximum > 0.0, stats.maximum, np.inf)
            table[:, leg] = scores / best[pool.queries] * keyword
        else:
            table[:, leg] = scores * vector
    table[~kept.any(axis=1)] = -np.inf
    return table


def zerda(pool: Pool, *, vector: float, keyword: float, bonus: float, k: float) -> Scores:
    """`zerda_documented` plus ``bonus`` times the reciprocal-rank sum over its highest value of the query."""
    table = zerda_documented(pool, vector=vector, keyword=keyword)
    votes = np.where(_zerda_kept(pool), 1.0 / (k + np.maximum(pool.ranks, 1)), 0.0)
    best = pool.highest(votes.sum(axis=1))
    return table + bonus * votes / np.where(best > 0.0, best, 1.0)[pool.queries][:, None]


def _zerda_kept(pool: Pool) -> NDArray[np.bool_]:
    """Which hits the retriever's legs bring, ``bool[n_entries, n_legs]``."""
    kept = pool.found.copy()
    for leg, name in enumerate(pool.legs):
        if name == "dense":
            kept[:, leg] &= pool.scores[:, leg] >= 0.0
        elif name != "bm25":
            raise ValueError(f"zerda fuses legs named 'bm25' and 'dense', not {name!r}")
    return kept
