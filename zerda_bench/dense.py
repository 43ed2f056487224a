"""Exact cosine similarity over vectors in memory: batch search at array level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerda_bench.arguments import Allow, allow_masks, check_k
from zerda_bench.arrays import FrozenArrays, frozen
from zerda_bench.batches import run_batches
from zerda_bench.hits import Hits
from zerda_bench.kernels import cosine

__all__ = ["VectorIndex", "unit_vectors"]

# Queries a thread takes at a time: with 512 dimensions they fill a quarter MiB, which stays in a core's own cache.
_BATCH = 64


def _matrix(vectors: ArrayLike | Sequence[ArrayLike], argument: str) -> NDArray[Any]:
    """`vectors` as a two-dimensional real array; a single vector becomes one row.

    Raises
    ------
    TypeError
        If the values are not real numbers.
    ValueError
        If rows differ in length or there are not two dimensions.
    """
    try:
        matrix = np.asarray(vectors)
    except ValueError:
        raise ValueError(f"{argument} must have rows of one length, one row a vector") from None
    if matrix.ndim == 1 and matrix.size == 0:
        return np.zeros((0, 0), np.float32)
    if not (np.issubdtype(matrix.dtype, np.floating) or np.issubdtype(matrix.dtype, np.integer)):
        raise TypeError(f"{argument} must hold real numbers, not {matrix.dtype}")
    if matrix.ndim == 1:
        matrix = matrix[None, :]
    if matrix.ndim != 2:
        raise ValueError(f"{argument} must be two-dimensional (vectors, dimensions), got shape {matrix.shape}")
    return matrix


def unit_vectors(
    vectors: ArrayLike | Sequence[ArrayLike], dtype: str = "float32", argument: str = "vectors"
) -> NDArray[np.floating[Any]]:
    """Scale each row to length 1, in float64, and round to `dtype`; zero rows stay zero.

    Parameters
    ----------
    vectors : real[n, dim]
        Any real dtype and layout, or nested lists.
    dtype : {"float32", "float64"}

    Returns
    -------
    dtype[n, dim]

    Raises
    ------
    ValueError
        If a row holds NaN or infinity; the message gives its number.
    """
    matrix = _matrix(vectors, argument)
    unit = np.empty(matrix.shape, dtype)
    # Blocks of rows bound the float64 copies.
    step = max(1, (1 << 20) // max(1, matrix.shape[1]))
    for start in range(0, len(matrix), step):
        block = matrix[start : start + step].astype(np.float64)
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            raise ValueError(f"{argument} row {start + int(np.argmin(finite))} holds NaN or infinity")
        # Dividing by the largest component first keeps the squares of huge and tiny values in range.
        largest = np.abs(block).max(axis=1, initial=0.0, keepdims=True)
        np.divide(block, largest, out=block, where=largest > 0.0)
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
        np.divide(block, norms, out=block, where=norms > 0.0)
        unit[start : start + step] = block
    return unit


class VectorIndex(FrozenArrays):
    """An immutable index of vectors, searched exhaustively and exactly by cosine similarity from any number of threads.

    Vectors are scaled to length 1 and kept in `dtype`; similarities are summed in float64 in a fixed order and clipped
    to [-1, 1]. The similarity with a zero vector is 0.

    Parameters
    ----------
    vectors : real[n_docs, dim]
        Any real dtype and layout, or nested lists; document i is row i.
    metric : {"cosine"}
    dtype : {"float32", "float64"}
        What vectors are kept in. float32 halves the memory and its traffic, and moves a similarity by less than 1e-7;
        float64 keeps similarities to the precision of float64 input.

    Raises
    ------
    TypeError, ValueError
        For values that are not real numbers, NaN or infinity (by row number), ragged rows, an unknown metric or dtype.
    """

    def __init__(
        self, vectors: ArrayLike | Sequence[ArrayLike], metric: str = "cosine", *, dtype: str = "float32"
    ) -> None:
        if metric != "cosine":
            raise ValueError(f"metric must be 'cosine', got {metric!r}")
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
        unit = unit_vectors(vectors, dtype)
        self.metric = metric
        self.n_docs, self.dim = unit.shape
        n_tiles = -(-self.n_docs // cosine.TILE)
        padded = np.zeros((n_tiles * cosine.TILE, self.dim), dtype)
        padded[: self.n_docs] = unit
        self._tiles = frozen(padded.reshape(n_tiles, cosine.TILE, self.dim).transpose(0, 2, 1))

    @property
    def nbytes(self) -> int:
        """Bytes of the stored vectors."""
        return self._tiles.nbytes

    def vector(self, doc: int) -> NDArray[np.floating[Any]]:
        """The unit vector ``dtype[dim]`` of a document (a copy)."""
        if not 0 <= doc < self.n_docs:
            raise IndexError(f"doc {doc} is not in the index, which holds documents 0 to {self.n_docs - 1}")
        tile, lane = divmod(doc, cosine.TILE)
        return self._tiles[tile, :, lane].copy()

    def search(
        self,
        queries: ArrayLike | Sequence[ArrayLike],
        k: int,
        *,
        allow: Allow = None,
        min_score: float | None = None,
        n_threads: int | None = None,
    ) -> Hits:
        """The `k` most similar documents of each query: similarity descending, then ascending document index.

        Parameters
        ----------
        queries : real[n_queries, dim]
            One vector ``real[dim]`` is a batch of one.
        k : int
            0 or greater.
        allow
            Documents that may be returned, see `zerda_bench.arguments.allow_masks`; `k` of them are returned whenever
            `k` are allowed.
        min_score : float, optional
            Only documents with at least this similarity are hits.
        n_threads : int, optional
            Threads for the batch; default one a usable core. The answer does not depend on it.

        Returns
        -------
        Hits
            Rows of width ``min(k, n_docs)``.

        Raises
        ------
        TypeError, ValueError
            For a negative `k`, another dimension than the index has, NaN or infinity, or a bad `allow`.
        """
        width = min(check_k(k), self.n_docs)
        bound = -math.inf if min_score is None else float(min_score)
        if math.isnan(bound):
            raise ValueError("min_score must be a number, got nan")
        units = frozen(unit_vectors(queries, "float64", "queries"))
        n_queries = len(units)
        if n_queries and self.n_docs and units.shape[1] != self.dim:
            raise ValueError(f"queries have {units.shape[1]} dimensions, but the index has {self.dim}")
        masks, mask_rows = allow_masks(allow, n_queries, self.n_docs)
        hits = Hits.empty(n_queries, width)
        if width == 0:
            return hits

        def run(start: int, stop: int) -> None:
            cosine.search(
                self._tiles,
                self.n_docs,
                units[start:stop],
                bound,
                masks,
                mask_rows[start:stop],
                hits.ids[start:stop],
                hits.scores[start:stop],
                hits.counts[start:stop],
            )

        run_batches(run, n_queries, _BATCH, n_threads)
        return hits
