"""BM25 over term-major postings: exhaustive, exact, one query after the other.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); the idf is Lucene's, which is
never negative. The impact of a posting is its whole contribution to a score,

    idf(t) * (tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl))),

computed in float64 in exactly this order; a document's score is the sum of its impacts in query-token order, so it is
the same to the last bit for every k, batch, window and thread count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerda_bench.kernels.jit import kernel
from zerda_bench.kernels.topk import push, sort

__all__ = ["WINDOW", "impacts", "search"]

#: Documents scored at a time: their accumulators (128 KiB) stay in a core's second-level cache.
WINDOW = 1 << 14


@kernel
def impacts(
    docs: Any, tfs: Any, term_offsets: Any, idf: Any, doc_lengths: Any, avgdl: float, k1: float, b: float, out: Any
) -> None:
    """Compute the impact of every posting.

    Parameters
    ----------
    docs, tfs : int32[n_postings]
        Postings in term-major order.
    term_offsets : int64[n_terms + 1]
    idf : float64[n_terms]
    doc_lengths : int64[n_docs]
        Lengths in tokens.
    out : float64[n_postings]
    """
    for term in range(idf.shape[0]):
        for p in range(term_offsets[term], term_offsets[term + 1]):
            tf = np.float64(tfs[p])
            norm = 1.0 - b + b * doc_lengths[docs[p]] / avgdl
            out[p] = idf[term] * (tf * (k1 + 1.0) / (tf + k1 * norm))


@kernel
def search(
    docs: Any,
    impacts: Any,
    term_offsets: Any,
    n_docs: int,
    query_terms: Any,
    query_offsets: Any,
    masks: Any,
    mask_rows: Any,
    out_docs: Any,
    out_scores: Any,
    out_counts: Any,
) -> None:
    """Rank, for each query, the documents that hold at least one of its terms.

    Parameters
    ----------
    docs : int32[n_postings]
        Documents of the postings, ascending within a term.
    impacts : float64[n_postings]
        Greater than zero: so a document matches exactly when its score is greater than zero.
    term_offsets : int64[n_terms + 1]
    query_terms : int32[n_query_tokens]
        Term ids of all queries, repeats kept.
    query_offsets : int64[n_queries + 1]
        May start anywhere: a slice of a larger batch is a batch.
    masks : bool[n_masks, n_docs]
        Documents that may be returned.
    mask_rows : int64[n_queries]
        Row of `masks` for each query; -1 where every document may be returned.
    out_docs, out_scores : int64[n_queries, k], float64[n_queries, k]
        Filled in rank order.
    out_counts : int64[n_queries]
    """
    width = min(WINDOW, n_docs)
    accumulators = np.zeros(width, np.float64)  # all zero between windows
    for query in range(query_offsets.shape[0] - 1):
        terms = query_terms[query_offsets[query] : query_offsets[query + 1]]
        cursors = np.empty(terms.shape[0], np.int64)  # next posting of each query token
        left = 0  # postings not read yet
        for i in range(terms.shape[0]):
            cursors[i] = term_offsets[terms[i]]
            left += term_offsets[terms[i] + 1] - cursors[i]
        mask_row = mask_rows[query]
        size = 0
        for first in range(0, n_docs, WINDOW):
            if left == 0:
                break
            end = min(first + WINDOW, n_docs)
            for i in range(terms.shape[0]):
                p = cursors[i]
                stop = term_offsets[terms[i] + 1]
                while p < stop and docs[p] < end:
                    accumulators[docs[p] - first] += impacts[p]
                    p += 1
                left -= p - cursors[i]
                cursors[i] = p
            for offset in range(end - first):
                score = accumulators[offset]
                if score > 0.0:
                    accumulators[offset] = 0.0
                    # A full heap's root beats every later document of equal score: documents come in ascending order.
                    if size == out_docs.shape[1] and (size == 0 or score <= out_scores[query, 0]):
                        continue
                    doc = first + offset
                    if mask_row < 0 or masks[mask_row, doc]:
                        size = push(out_docs[query], out_scores[query], size, score, doc)
        sort(out_docs[query], out_scores[query], size)
        out_counts[query] = size
