"""Fusion over plain dicts, one query at a time, as the papers write it.

A leg is a list of (document, score) in rank order.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

Leg = Sequence[tuple[int, float]]

FLOORS = {"bm25": 0.0, "dense": -1.0}


def ranks(leg: Leg) -> dict[int, int]:
    """Best rank of each document, from 1."""
    found: dict[int, int] = {}
    for rank, (doc, _) in enumerate(leg, start=1):
        found.setdefault(doc, rank)
    return found


def scores(leg: Leg) -> dict[int, float]:
    """Score of each document at its best rank."""
    found: dict[int, float] = {}
    for doc, score in leg:
        found.setdefault(doc, score)
    return found


def normalised(name: str, leg: Leg, norm: str) -> tuple[dict[int, float], float]:
    """Normalised scores, and what a document gets that the leg did not find."""
    values = scores(leg)
    if not values:
        return {}, 0.0
    low, high, n = min(values.values()), max(values.values()), len(values)
    # Neither z-scores nor DBSF change under a shift and a scale, so they are taken in units of the range.
    unit = {d: (s - low) / (high - low) if high > low else 1.0 for d, s in values.items()}
    mean = sum(unit.values()) / n
    if norm == "minmax":
        return unit, 0.0
    if norm == "tmm":
        floor = FLOORS[name]
        return {d: (s - floor) / (high - floor) if high != floor else 1.0 for d, s in values.items()}, 0.0
    if norm == "zscore":
        sd = statistics.pstdev(unit.values()) if high > low else 0.0
        z = {d: (s - mean) / sd if sd else 0.0 for d, s in unit.items()}
        return z, min(z.values())
    if norm == "max":
        top = max(abs(low), abs(high))
        return {d: s / top if top else 0.0 for d, s in values.items()}, 0.0
    if norm == "sum":
        total = sum(s - low for s in values.values())
        return {d: (s - low) / total if high > low else 1.0 / n for d, s in values.items()}, 0.0
    if norm == "rank":
        return {d: 1.0 - (r - 1) / n for d, r in ranks(leg).items()}, 0.0
    if norm == "dbsf":
        sd = statistics.stdev(unit.values()) if high > low else 0.0
        return {d: (s - (mean - 3 * sd)) / (6 * sd) if sd else 0.5 for d, s in unit.items()}, 0.0
    raise ValueError(norm)


def fuse(legs: dict[str, Leg], family: str, parameters: dict[str, Any]) -> dict[int, float]:
    """Fused score of every document that a leg found."""
    docs = sorted({doc for leg in legs.values() for doc, _ in leg})
    by_rank = {name: ranks(leg) for name, leg in legs.items()}
    hits = {doc: sum(doc in by_rank[name] for name in legs) for doc in docs}
    norms = {name: normalised(name, leg, parameters["norm"]) for name, leg in legs.items() if "norm" in parameters}
    weights = parameters.get("weights")
    share = {n: w / sum(weights.values) for n, w in zip(legs, weights.values, strict=True)} if weights else None

    def each(value: Any) -> dict[int, float]:
        return {doc: sum(value(name, doc) for name in legs) for doc in docs}

    def norm(name: str, doc: int) -> float:
        values, missing = norms[name]
        return values.get(doc, missing)

    def present(doc: int) -> list[float]:
        return [norms[name][0][doc] for name in legs if doc in by_rank[name]]

    if family == "rrf":
        k = parameters["k"]
        scale = {n: w * len(legs) for n, w in share.items()} if share else dict.fromkeys(legs, 1.0)
        return each(lambda n, d: scale[n] / (k + by_rank[n][d]) if d in by_rank[n] else 0.0)
    if family == "isr":
        sums = each(lambda n, d: 1.0 / by_rank[n][d] ** 2 if d in by_rank[n] else 0.0)
        return {doc: hits[doc] * sums[doc] for doc in docs}
    if family == "combsum":
        return each(norm)
    if family == "combmnz":
        return {doc: hits[doc] * s for doc, s in each(norm).items()}
    if family == "combanz":
        return {doc: sum(present(doc)) / hits[doc] for doc in docs}
    if family in ("combmax", "combmin", "combmed"):
        pick = {"combmax": max, "combmin": min, "combmed": statistics.median}[family]
        return {doc: pick(present(doc)) for doc in docs}
    if family == "convex":
        alpha = parameters["alpha"]
        weight = share or {n: alpha if n == "dense" else 1.0 - alpha for n in legs}
        return each(lambda n, d: weight[n] * norm(n, d))
    if family == "borda":
        c = len(docs)
        return each(lambda n, d: c - by_rank[n][d] + 1 if d in by_rank[n] else (c - len(by_rank[n]) + 1) / 2)
    if family == "condorcet":
        place = {n: {d: by_rank[n].get(d, math.inf) for d in docs} for n in legs}

        def wins(a: int, b: int) -> float:
            margin = sum((place[n][a] < place[n][b]) - (place[n][a] > place[n][b]) for n in legs)
            return 1.0 if margin > 0 else 0.5 if margin == 0 else 0.0

        return {a: sum(wins(a, b) for b in docs if b != a) for a in docs}
    if family in ("zerda", "zerda-documented"):
        return _zerda(legs, docs, parameters)
    raise ValueError(family)


def _zerda(legs: dict[str, Leg], docs: list[int], parameters: dict[str, Any]) -> dict[int, float]:
    kept = {n: [(d, s) for d, s in leg if n == "bm25" or s >= 0.0] for n, leg in legs.items()}
    brought = [doc for doc in docs if any(doc == d for leg in kept.values() for d, _ in leg)]
    composite = dict.fromkeys(brought, 0.0)
    votes = dict.fromkeys(brought, 0.0)
    for name, leg in kept.items():
        values = scores(leg)
        top = max(values.values(), default=0.0) if name == "bm25" else 1.0
        for doc, score in values.items():
            composite[doc] += score / top * parameters["keyword" if name == "bm25" else "vector"] if top > 0 else 0.0
        for doc, rank in ranks(leg).items():
            votes[doc] += 1.0 / (parameters.get("k", 60.0) + rank)
    if "bonus" in parameters and brought:
        best = max(votes.values())
        composite = {d: s + parameters["bonus"] * votes[d] / best for d, s in composite.items()}
    return composite
