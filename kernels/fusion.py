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
def align(ids: Any, scores: Any, counts: Any, out_docs: Any, out_ranks: Any, out_scores: Any, out_sizes: Any) -> None:
    """Merge the lists of each query by document.

    Parameters
    ----------
    ids, scores : int64[n_legs, n_queries, depth], float64[n_legs, n_queries, depth]
    counts : int64[n_legs, n_queries]
    out_docs : int64[n_queries, n_legs * depth]
        Distinct documents, ascending.
    out_ranks : int32[n_queries, n_legs * depth, n_legs]
        Zeros on entry. A document that stands in a list twice has its best rank, and the score there.
    out_scores : float64[n_queries, n_legs * depth, n_legs]
        NaN on entry.
    out_sizes : int64[n_queries]
    """
    n_legs, n_queries = counts.shape
    for query in range(n_queries):
        total = 0
        for leg in range(n_legs):
            total += counts[leg, query]
        docs = np.empty(total, np.int64)
        places = np.empty(total, np.int64)  # leg * depth + position, in that order
        at = 0
        for leg in range(n_legs):
            for position in range(counts[leg, query]):
                docs[at] = ids[leg, query, position]
                places[at] = leg * ids.shape[2] + position
                at += 1
        size = 0
        # A stable sort keeps legs, and ranks within them, ascending for each document.
        for i in np.argsort(docs, kind="mergesort"):
            if size == 0 or out_docs[query, size - 1] != docs[i]:
                out_docs[query, size] = docs[i]
                size += 1
            leg, position = divmod(places[i], ids.shape[2])
            if out_ranks[query, size - 1, leg] == 0:
                out_ranks[query, size - 1, leg] = position + 1
                out_scores[query, size - 1, leg] = scores[leg, query, position]
        out_sizes[query] = size


@kernel
def statistics(offsets: Any, ranks: Any, scores: Any, leg: int, out: Any) -> None:
    """Count, minimum, maximum, sum, sum of squared deviations of one leg's scores in each query.

    Parameters
    ----------
    out : float64[n_queries, 5]
        A query without hits of this leg gets count 0 and zeros.
    """
    for query in range(offsets.shape[0] - 1):
        n = 0
        low, high, total = np.inf, -np.inf, 0.0
        for e in range(offsets[query], offsets[query + 1]):
            if ranks[e, leg] > 0:
                n += 1
                low, high = min(low, scores[e, leg]), max(high, scores[e, leg])
                total += scores[e, leg]
        squares = 0.0
        if n > 0:
            mean = total / n
            for e in range(offsets[query], offsets[query + 1]):
                if ranks[e, leg] > 0:
                    squares += (scores[e, leg] - mean) ** 2
        else:
            low = high = 0.0
        out[query, 0], out[query, 1], out[query, 2], out[query, 3], out[query, 4] = n, low, high, total, squares


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
    out_docs, out_scores : int64[n_queries, k], float64[n_queries, k]
    out_counts : int64[n_queries]
    """
    for query in range(offsets.shape[0] - 1):
        size = 0
        for e in range(offsets[query], offsets[query + 1]):
            size = push(out_docs[query], out_scores[query], size, scores[e], docs[e])
        sort(out_docs[query], out_scores[query], size)
        out_counts[query] = size
