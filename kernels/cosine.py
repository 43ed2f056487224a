"""Cosine similarity of a batch of queries with every document, fused with top-k.

Vectors are of unit length already (zero vectors stay zero), so the similarity is a dot product. It is summed in float64
over ascending dimensions, one rounded product after the other (nothing allows the compiler to fuse or reorder), so the
score is what the plain loop gives, whatever the batch, the tile or the vector unit. To use that unit all the same,
documents are stored in tiles of `TILE`, dimension by dimension, and the innermost loop runs over a tile's documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerda_bench.kernels.jit import kernel
from zerda_bench.kernels.topk import push, sort

__all__ = ["TILE", "search"]

#: Documents of a tile: their float64 sums fill eight 256-bit registers.
TILE = 32


@kernel
def _tile_sums(tile: Any, query: Any, sums: Any) -> None:
    """Dot products of a query with the documents of a tile ``[dim, TILE]``, into ``sums : float64[TILE]``."""
    dim = query.shape[0]
    for lane in range(TILE):
        sums[lane] = 0.0
    # Four dimensions a pass save three of four loads and stores of the sums; the order of additions stays ascending.
    whole = dim - dim % 4
    for j in range(0, whole, 4):
        q0, q1, q2, q3 = query[j], query[j + 1], query[j + 2], query[j + 3]
        for lane in range(TILE):
            s = sums[lane]
            s += q0 * np.float64(tile[j, lane])
            s += q1 * np.float64(tile[j + 1, lane])
            s += q2 * np.float64(tile[j + 2, lane])
            s += q3 * np.float64(tile[j + 3, lane])
            sums[lane] = s
    for j in range(whole, dim):
        for lane in range(TILE):
            sums[lane] += query[j] * np.float64(tile[j, lane])


@kernel
def search(
    tiles: Any,
    n_docs: int,
    queries: Any,
    min_score: float,
    masks: Any,
    mask_rows: Any,
    out_docs: Any,
    out_scores: Any,
    out_counts: Any,
) -> None:
    """Rank, for each query, the documents whose cosine similarity is at least `min_score`.

    Parameters
    ----------
    tiles : float32 or float64[n_tiles, dim, TILE]
        Document ``t * TILE + lane`` is ``tiles[t, :, lane]``; lanes past `n_docs` are never read into a result.
    queries : float64[n_queries, dim]
        Unit vectors.
    min_score : float
        ``-inf`` for no bound.
    masks, mask_rows : bool[n_masks, n_docs], int64[n_queries]
        Documents that may be returned, as in `zerda_bench.kernels.bm25.search`.
    out_docs, out_scores : int64[n_queries, k], float64[n_queries, k]
        Filled in rank order; scores are clipped to [-1, 1] (rounding can push a self-similarity past 1).
    out_counts : int64[n_queries]
        Zeros on entry.
    """
    sums = np.empty(TILE, np.float64)
    for t in range(tiles.shape[0]):
        first = t * TILE
        lanes = min(TILE, n_docs - first)
        for query in range(queries.shape[0]):
            _tile_sums(tiles[t], queries[query], sums)
            size = out_counts[query]
            mask_row = mask_rows[query]
            for lane in range(lanes):
                score = min(1.0, max(-1.0, sums[lane]))
                # A full heap's root beats every later document of equal score: documents come in ascending order.
                if score < min_score or (size == out_docs.shape[1] and (size == 0 or score <= out_scores[query, 0])):
                    continue
                if mask_row < 0 or masks[mask_row, first + lane]:
                    size = push(out_docs[query], out_scores[query], size, score, first + lane)
            out_counts[query] = size
    for query in range(queries.shape[0]):
        sort(out_docs[query], out_scores[query], out_counts[query])
