"""The answer of a batch search: one ranked list a query, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Hits"]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Ranked lists of a batch of queries: score descending, then ascending document index.

    Unpacks as ``ids, scores = index.search(...)``. Rows are padded to one width; `counts` says how much of each is
    real, and `row` hands out just that part, so padding need never be seen.

    Attributes
    ----------
    ids : int64[n_queries, width]
        Document indices; -1 past ``counts``.
    scores : float64[n_queries, width]
        Scores; ``-inf`` past ``counts``.
    counts : int64[n_queries]
        Hits of each query.
    """

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def empty(cls, n_queries: int, width: int) -> Hits:
        """Padding only: what a kernel fills in, and the answer where nothing was found."""
        return cls(
            ids=np.full((n_queries, width), -1, np.int64),
            scores=np.full((n_queries, width), -np.inf, np.float64),
            counts=np.zeros(n_queries, np.int64),
        )

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[ArrayLike, ArrayLike]], width: int | None = None) -> Hits:
        """Build from one ``(ids, scores)`` pair a query, each already in rank order.

        Raises
        ------
        ValueError
            If the two sequences of a row differ in length, or a row is longer than `width`.
        """
        arrays = [(np.asarray(ids, np.int64), np.asarray(scores, np.float64)) for ids, scores in rows]
        longest = max((len(ids) for ids, _ in arrays), default=0)
        if width is None:
            width = longest
        elif longest > width:
            raise ValueError(f"width={width} is smaller than the longest row ({longest})")
        hits = cls.empty(len(rows), width)
        for q, (ids, scores) in enumerate(arrays):
            if len(ids) != len(scores):
                raise ValueError(f"row {q} has {len(ids)} ids but {len(scores)} scores")
            hits.ids[q, : len(ids)] = ids
            hits.scores[q, : len(ids)] = scores
            hits.counts[q] = len(ids)
        return hits

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.ids.shape[0])

    @property
    def width(self) -> int:
        """Places a row has, filled or not."""
        return int(self.ids.shape[1])

    def row(self, query: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Ids and scores of one query, without padding."""
        count = int(self.counts[query])
        return self.ids[query, :count], self.scores[query, :count]

    def head(self, k: int) -> Hits:
        """The first `k` places of every row."""
        return Hits(self.ids[:, :k], self.scores[:, :k], np.minimum(self.counts, k))

    def __len__(self) -> int:
        return self.n_queries

    def __iter__(self) -> Iterator[NDArray[np.int64] | NDArray[np.float64]]:
        """Yield ids, then scores: ``ids, scores = hits``."""
        yield self.ids
        yield self.scores
