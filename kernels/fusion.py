"""Aligning the ranked lists of several legs, statistics over them, and ranking the fused scores.

The lists of a batch lie in one ragged table: entry ``e`` of query ``q``, ``offsets[q] <= e < offsets[q + 1]``, is a
document that at least one leg found; documents ascend within a query. ``ranks[e, leg]`` is its place in that leg's
list, 1 the best, 0 where the leg did not find it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerda_bench.kernels.jit import kernel
from zerda_bench.kernels.topk import push, sort

__all__ = ["align", "pairwise_wins", "rank", "statistics"]


@kernel
def align(keys: Any, scores: Any, counts: Any, out_docs: Any, out_ranks: Any, out_scores: Any, out_sizes: Any) -> None:
    """Merge the lists of each query by document, one query after the other.

    Parameters
    ----------
    keys : int64[n_queries, n_legs * depth]
        ``(document * n_legs + leg) * depth + position`` of every hit, ascending, padding last.
    scores : float64[n_queries, n_legs, depth]
    counts : int64[n_queries]
        Keys of each query that are no padding.
    out_docs, out_ranks, out_scores : int64[size], int32[size, n_legs], float64[size, n_legs]
        Written from the start, with `size` as large as all counts together. A document that stands in a list twice has
        its best rank, and the score there.
    out_sizes : int64[n_queries]
        Distinct documents of each query.
    """
    _, n_legs, depth = scores.shape
    size = 0
    for query in range(keys.shape[0]):
        first = size
        for i in range(counts[query]):
            doc, place = divmod(keys[query, i], n_legs * depth)
            leg, position = divmod(place, depth)
            if size == first or out_docs[size - 1] != doc:
                out_docs[size] = doc
                out_ranks[size] = 0
                out_scores[size] = np.nan
                size += 1
            if out_ranks[size - 1, leg] == 0:
                out_ranks[size - 1, leg] = position + 1
                out_scores[size - 1, leg] = scores[query, leg, position]
        out_sizes[query] = size - first


@kernel
def statistics(offsets: Any, ranks: Any, scores: Any, leg: int, out: Any) -> None:
    """Count, minimum, maximum, sum above the minimum, and sum of squared deviations of one leg in each query.

    Everything is counted from the minimum, and deviations in units of the range: equal scores have exactly none, and
    neither tiny nor huge scores lose theirs.

    Parameters
    ----------
    out : float64[n_queries, 5]
        ``n, min, max, sum(s - min), sum(((s - mean) / (max - min)) ** 2)``; zeros where the leg found nothing.
    """
    for query in range(offsets.shape[0] - 1):
        n = 0
        low, high, above, squares = np.inf, -np.inf, 0.0, 0.0
        for e in range(offsets[query], offsets[query + 1]):
            if ranks[e, leg] > 0:
                n += 1
                low, high = min(low, scores[e, leg]), max(high, scores[e, leg])
        if n == 0:
            low = high = 0.0
        if high > low:
            for e in range(offsets[query], offsets[query + 1]):
                if ranks[e, leg] > 0:
                    above += scores[e, leg] - low
            mean = above / (high - low) / n
            for e in range(offsets[query], offsets[query + 1]):
                if ranks[e, leg] > 0:
                    squares += ((scores[e, leg] - low) / (high - low) - mean) ** 2
        out[query, 0], out[query, 1], out[query, 2], out[query, 3], out[query, 4] = n, low, high, above, squares


@kernel
def pairwise_wins(offsets: Any, ranks: Any, out: Any) -> None:
    """For each document of a query, how many others a majority of legs puts below it; an even vote counts a half.

    A document that a leg did not find stands below all that it found; a leg that found neither has no vote.

    Parameters
    ----------
    out : float64[n_entries]
    """
    n_legs = ranks.shape[1]
    for query in range(offsets.shape[0] - 1):
        first, n = offsets[query], offsets[query + 1] - offsets[query]
        places = np.empty((n_legs, n), np.int32)
        for leg in range(n_legs):
            for e in range(n):
                rank = ranks[first + e, leg]
                places[leg, e] = rank if rank > 0 else np.int32(2**31 - 1)
        margins = np.empty(n, np.int32)
        for a in range(n):
            margins[:] = 0
            for leg in range(n_legs):
                mine = places[leg, a]
                for b in range(n):
                    margins[b] += np.int32(mine < places[leg, b]) - np.int32(mine > places[leg, b])
            halves = np.int32(0)
            for b in range(n):
                halves += np.int32(margins[b] > 0) + np.int32(margins[b] >= 0)
            out[first + a] = 0.5 * (halves - 1)  # the document itself is a tie of no meaning


@kernel
def rank(offsets: Any, docs: Any, scores: Any, out_docs: Any, out_scores: Any, out_counts: Any) -> None:
    """The best entries of each query: score descending, then ascending document index.

    Parameters
    ----------
    docs, scores : int64[n_entries], float64[n_entries]
        Entries of score ``-inf`` are left out.
    out_docs, out_scores : int64[n_queries, k], float64[n_queries, k]
    out_counts : int64[n_queries]
    """
    k = out_docs.shape[1]
    for query in range(offsets.shape[0] - 1):
        best_docs, best_scores = out_docs[query], out_scores[query]
        size = 0
        for e in range(offsets[query], offsets[query + 1]):
            score = scores[e]
            # A full heap's root beats every later document of equal score: documents come in ascending order.
            if score == -np.inf or (size == k and (k == 0 or score <= best_scores[0])):
                continue
            size = push(best_docs, best_scores, size, score, docs[e])
        sort(best_docs, best_scores, size)
        out_counts[query] = size
