"""The ranked lists of a batch, aligned by document once, for any number of fusion methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arguments import check_k
from zerda_bench.arrays import frozen
from zerda_bench.batches import run_batches
from zerda_bench.hits import Hits

__all__ = ["Pool", "Statistics"]

# Entries that a thread takes at a time: the tables of a formula stay in a core's second-level cache.
_BLOCK = 1 << 14
# Beyond this, squares and sums of scores could leave the range of float64.
_HUGE = 1e300


class Statistics:
    """What one leg's scores look like in each query: arrays ``float64[n_queries]``, zeros where it found nothing.

    `mean` and `deviation` are those of ``(s - minimum) / (maximum - minimum)``: whatever the scale of the scores, they
    lose no digits, and equal scores have a deviation of exactly 0.
    """

    def __init__(self, table: NDArray[np.float64]) -> None:
        self.count, self.minimum, self.maximum, self.above_minimum, self._squares = table.T
        span = np.where(self.maximum > self.minimum, self.maximum - self.minimum, 1.0)
        self.mean = self.above_minimum / span / np.maximum(self.count, 1.0)

    def deviation(self, *, sample: bool) -> NDArray[np.float64]:
        """Standard deviation of the population, or of a sample, with n - 1."""
        deviation: NDArray[np.float64] = np.sqrt(self._squares / np.maximum(self.count - sample, 1.0))
        return deviation


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
    def from_legs(cls, legs: Mapping[str, Hits], depth: int | None = None, *, n_threads: int | None = None) -> Pool:
        """Align ranked lists; they are only read.

        Parameters
        ----------
        legs : mapping of str to Hits
            At least one, in leg order. Rows are in rank order; a document that a row holds twice counts once, at its
            best rank.
        depth : int, optional
            Hits to take from each list; default all.
        n_threads : int, optional
            Default: one a usable core. The pool does not depend on it.

        Raises
        ------
        ValueError
            If there is no leg, legs answer different numbers of queries, a document index is negative, or `depth` is.
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
        lists = {name: hits.head(width) for name, hits in legs.items()}
        step = max(1, _BLOCK // max(1, len(legs) * width))
        blocks: dict[int, _Block] = {}

        def run(start: int, stop: int) -> None:
            blocks[start] = _align(lists, start, stop, width)

        run_batches(run, n_queries, step, n_threads)
        n_legs = len(legs)
        done = [blocks[start] for start in sorted(blocks)]
        return cls(
            tuple(legs),
            np.cumsum(np.concatenate([np.zeros(1, np.int64), *(block[0] for block in done)])),
            np.concatenate([np.empty(0, np.int64), *(block[1] for block in done)]),
            np.concatenate([np.empty((0, n_legs), np.int32), *(block[2] for block in done)]),
            np.concatenate([np.empty((0, n_legs)), *(block[3] for block in done)]),
        )

    @cached_property
    def parts(self) -> list[Pool]:
        """The pool cut into runs of queries, as views: what a formula is applied to at a time.

        Queries do not know of each other, so a formula gives the same for a part as for the whole.
        """
        parts = []
        start = 0
        while start < self.n_queries:
            stop = int(np.searchsorted(self.offsets, self.offsets[start] + _BLOCK, side="right")) - 1
            stop = min(max(stop, start + 1), self.n_queries)
            first, last = self.offsets[start], self.offsets[stop]
            parts.append(
                Pool(
                    self.legs,
                    self.offsets[start : stop + 1] - first,
                    self.docs[first:last],
                    self.ranks[first:last],
                    self.scores[first:last],
                )
            )
            start = stop
        return parts

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

        broken = np.any(self.found & ~(np.abs(self.scores) <= _HUGE), axis=0)
        if broken.any():
            name = self.legs[int(np.argmax(broken))]
            raise ValueError(
                f"leg {name!r} has scores that are no finite numbers (or beyond 1e300); only methods on ranks fuse it"
            )
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

    def highest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest of ``values : float64[n_entries]`` in each query, ``float64[n_queries]``; 0 without entries."""
        filled = np.diff(self.offsets) > 0
        result = np.zeros(self.n_queries)
        if filled.any():
            result[filled] = np.maximum.reduceat(values, self.offsets[:-1][filled])
        return result

    def rank(self, fuse: Callable[[Pool], NDArray[np.floating[Any]]], k: int, *, n_threads: int | None = None) -> Hits:
        """The `k` best entries of each query, under the one tie rule.

        Parameters
        ----------
        fuse : callable
            Gives the score of every entry of a part, ``float64[n_entries]``; ``-inf`` leaves an entry out.
        """
        from zerda_bench.kernels import fusion

        longest = int(np.diff(self.offsets).max(initial=0))
        hits = Hits.empty(self.n_queries, min(check_k(k), longest))
        starts = np.cumsum([0, *(part.n_queries for part in self.parts)])

        def run(first: int, last: int) -> None:
            for i in range(first, last):
                part, rows = self.parts[i], slice(starts[i], starts[i + 1])
                scores = frozen(fuse(part))
                fusion.rank(part.offsets, part.docs, scores, hits.ids[rows], hits.scores[rows], hits.counts[rows])

        run_batches(run, len(self.parts), 1, n_threads)
        return hits


_Block = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def _align(legs: Mapping[str, Hits], start: int, stop: int, width: int) -> _Block:
    """Sizes, documents, ranks and scores of some queries.

    Raises
    ------
    ValueError
        If a document index is negative, or so large that no key can be made of it.
    """
    from zerda_bench.kernels import fusion

    n_legs, n_queries = len(legs), stop - start
    limit = np.iinfo(np.int64).max // max(1, n_legs * width) - 1
    keys = np.full((n_queries, n_legs, width), np.iinfo(np.int64).max)
    scores = np.full((n_queries, n_legs, width), np.nan)
    counts = np.zeros(n_queries, np.int64)
    for leg, (name, hits) in enumerate(legs.items()):
        filled = np.arange(hits.width) < hits.counts[start:stop, None]
        ids = hits.ids[start:stop]
        wrong = ids[filled & ((ids < 0) | (ids > limit))]
        if len(wrong):
            raise ValueError(f"leg {name!r} names document {wrong[0]}; document indices lie between 0 and {limit}")
        key = (ids * n_legs + leg) * width + np.arange(hits.width)
        np.copyto(keys[:, leg, : hits.width], key, where=filled)
        scores[:, leg, : hits.width] = hits.scores[start:stop]
        counts += hits.counts[start:stop]
    ordered = np.sort(keys.reshape(n_queries, n_legs * width), axis=1)
    total = int(counts.sum())
    docs, ranks, aligned = np.empty(total, np.int64), np.empty((total, n_legs), np.int32), np.empty((total, n_legs))
    sizes = np.empty(n_queries, np.int64)
    fusion.align(frozen(ordered), frozen(scores), frozen(counts), docs, ranks, aligned, sizes)
    size = int(sizes.sum())
    return sizes, docs[:size], ranks[:size], aligned[:size]
