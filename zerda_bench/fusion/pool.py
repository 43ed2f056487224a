"""The ranked lists of a batch, aligned by document once, for any number of fusion methods."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arguments import check_k
from zerda_bench.arrays import frozen
from zerda_bench.batches import run_batches
from zerda_bench.hits import Hits

__all__ = ["Pool", "Statistics"]

# Queries aligned at a time: bounds the table that has room for lists without a document in common.
_BLOCK = 1024
# Queries a thread takes at a time.
_BATCH = 64


class Statistics:
    """What one leg's scores look like in each query: arrays ``float64[n_queries]``, zeros where it found nothing."""

    def __init__(self, table: NDArray[np.float64]) -> None:
        self.count, self.minimum, self.maximum, self.total, self._squares = table.T
        self.mean = self.total / np.maximum(self.count, 1.0)

    def deviation(self, *, sample: bool) -> NDArray[np.float64]:
        """Standard deviation; of a sample, with n - 1, it is 0 for a single score."""
        variance: NDArray[np.float64] = self._squares / np.maximum(self.count - sample, 1.0)
        return np.sqrt(variance)


class Pool:
    """All documents that any leg found for each query, with the rank and score in each leg.

    Attributes
    ----------
    legs : tuple of str
        Names, in the order in which scores are added up.
    offsets : int64[n_queries + 1]
        The entries of query q are ``[offsets[q]:offsets[q + 1]]``.
    docs : int64[n_entries]
        Ascending within a query.
    ranks : int32[n_entries, n_legs]
        Place in the leg's list, 1 the best; 0 where the leg did not find the document.
    scores : float64[n_entries, n_legs]
        NaN where the leg did not find the document.
    """

    def __init__(
        self,
        legs: tuple[str, ...],
        offsets: NDArray[np.int64],
        docs: NDArray[np.int64],
        ranks: NDArray[np.int32],
        scores: NDArray[np.float64],
    ) -> None:
        self.legs = legs
        self.offsets = frozen(offsets)
        self.docs = frozen(docs)
        self.ranks = frozen(ranks)
        self.scores = frozen(scores)

    @classmethod
    def from_legs(cls, legs: Mapping[str, Hits], depth: int | None = None) -> Pool:
        """Align ranked lists; they are only read.

        Parameters
        ----------
        legs : mapping of str to Hits
            At least one, in leg order. Rows are in rank order; a document that a row holds twice counts once, at its
            best rank.
        depth : int, optional
            Hits to take from each list; default all.

        Raises
        ------
        ValueError
            If there is no leg, legs answer different numbers of queries, or `depth` is negative.
        """
        if not legs:
            raise ValueError("legs must hold at least one ranked list")
        sizes = {name: len(hits) for name, hits in legs.items()}
        n_queries = next(iter(sizes.values()))
        if set(sizes.values()) != {n_queries}:
            raise ValueError(f"legs answer different numbers of queries: {sizes}")
        width = max(hits.width for hits in legs.values())
        if depth is not None:
            width = min(width, check_k(depth))
        blocks = [
            cls._align([hits.head(width) for hits in legs.values()], start, min(start + _BLOCK, n_queries), width)
            for start in range(0, n_queries, _BLOCK)
        ]
        lengths = [np.zeros(1, np.int64), *(block[0] for block in blocks)]
        n_legs = len(legs)
        return cls(
            tuple(legs),
            np.cumsum(np.concatenate(lengths)),
            np.concatenate([np.empty(0, np.int64), *(block[1] for block in blocks)]),
            np.concatenate([np.empty((0, n_legs), np.int32), *(block[2] for block in blocks)]),
            np.concatenate([np.empty((0, n_legs)), *(block[3] for block in blocks)]),
        )

    @staticmethod
    def _align(
        legs: list[Hits], start: int, stop: int, width: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        from zerda_bench.kernels import fusion

        n_legs, n_queries = len(legs), stop - start
        ids = np.full((n_legs, n_queries, width), -1, np.int64)
        scores = np.full((n_legs, n_queries, width), np.nan)
        counts = np.empty((n_legs, n_queries), np.int64)
        for leg, hits in enumerate(legs):
            ids[leg, :, : hits.width] = hits.ids[start:stop]
            scores[leg, :, : hits.width] = hits.scores[start:stop]
            counts[leg] = hits.counts[start:stop]
        docs = np.empty((n_queries, n_legs * width), np.int64)
        ranks = np.zeros((n_queries, n_legs * width, n_legs), np.int32)
        aligned = np.full((n_queries, n_legs * width, n_legs), np.nan)
        sizes = np.zeros(n_queries, np.int64)

        def run(first: int, last: int) -> None:
            fusion.align(
                frozen(ids[:, first:last]),
                frozen(scores[:, first:last]),
                frozen(counts[:, first:last]),
                docs[first:last],
                ranks[first:last],
                aligned[first:last],
                sizes[first:last],
            )

        run_batches(run, n_queries, _BATCH, None)
        filled = np.arange(n_legs * width) < sizes[:, None]
        return sizes, docs[filled], ranks[filled], aligned[filled]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.offsets) - 1

    @cached_property
    def queries(self) -> NDArray[np.int64]:
        """Query of each entry, ``int64[n_entries]``."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Whether the leg found the document, ``bool[n_entries, n_legs]``."""
        return self.ranks > 0

    @cached_property
    def _statistics(self) -> list[Statistics]:
        from zerda_bench.kernels import fusion

        broken = np.any(self.found & ~np.isfinite(self.scores), axis=0)
        if broken.any():
            name = self.legs[int(np.argmax(broken))]
            raise ValueError(f"leg {name!r} has scores that are no finite numbers; only methods on ranks can fuse it")
        tables = []
        for leg in range(len(self.legs)):
            table = np.empty((self.n_queries, 5))
            fusion.statistics(self.offsets, self.ranks, self.scores, leg, table)
            tables.append(Statistics(table))
        return tables

    def statistics(self, leg: int) -> Statistics:
        """Statistics of a leg's scores.

        Raises
        ------
        ValueError
            If a leg has scores that are no finite numbers.
        """
        return self._statistics[leg]

    def rank(self, fused: NDArray[np.floating[Any]], k: int) -> Hits:
        """The `k` best entries of each query by ``fused : float64[n_entries]``, under the one tie rule."""
        from zerda_bench.kernels import fusion

        longest = int(np.diff(self.offsets).max(initial=0))
        hits = Hits.empty(self.n_queries, min(check_k(k), longest))
        if hits.width == 0:
            return hits
        scores = frozen(fused)

        def run(start: int, stop: int) -> None:
            fusion.rank(
                self.offsets[start : stop + 1],
                self.docs,
                scores,
                hits.ids[start:stop],
                hits.scores[start:stop],
                hits.counts[start:stop],
            )

        run_batches(run, self.n_queries, _BATCH, None)
        return hits
