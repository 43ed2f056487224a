"""Measures from their definitions, one query at a time, with trec_eval's order of ties."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np


def ranking(run: Mapping[str, float]) -> list[str]:
    """Score (as float32) descending, then document id descending."""
    return sorted(run, key=lambda document: (np.float32(run[document]), document), reverse=True)


def ndcg(grades: Mapping[str, int], run: Mapping[str, float], k: int) -> float:
    def dcg(gains: list[int]) -> float:
        return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1))

    ideal = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(document, 0) for document in ranking(run)]) / ideal if ideal else 0.0


def recall(grades: Mapping[str, int], run: Mapping[str, float], k: int) -> float:
    relevant = {document for document, grade in grades.items() if grade >= 1}
    return len(relevant.intersection(ranking(run)[:k])) / len(relevant) if relevant else 0.0


def average_precision(grades: Mapping[str, int], run: Mapping[str, float]) -> float:
    relevant = {document for document, grade in grades.items() if grade >= 1}
    found, total = 0, 0.0
    for rank, document in enumerate(ranking(run), start=1):
        if document in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0
