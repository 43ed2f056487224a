"""BM25 as the specification writes it, over token lists, in plain Python floats."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def score(documents: Sequence[Sequence[str]], query: Sequence[str], k1: float, b: float) -> list[float]:
    """The score of every document."""
    n = len(documents)
    avgdl = sum(map(len, documents)) / n if n else 0.0
    scores = [0.0] * n
    for term in query:
        df = sum(term in document for document in documents)
        if df == 0:
            continue
        idf = math.log((n - df + 0.5) / (df + 0.5) + 1.0)
        for i, document in enumerate(documents):
            tf = float(document.count(term))
            if tf > 0:
                scores[i] += idf * (tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * len(document) / avgdl)))
    return scores


def search(
    documents: Sequence[Sequence[str]],
    query: Sequence[str],
    k: int,
    k1: float = 1.5,
    b: float = 0.75,
    allow: Collection[int] | None = None,
) -> list[tuple[int, float]]:
    """The k best allowed documents among those that hold a query term."""
    hits = [
        (i, s)
        for i, s in enumerate(score(documents, query, k1, b))
        if set(query) & set(documents[i]) and (allow is None or i in allow)
    ]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
