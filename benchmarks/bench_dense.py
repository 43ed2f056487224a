"""Cosine: building an index, single queries, batches and filters.

Measured: seeded Gaussian mixtures of 384 dimensions, one thread. Not measured: embedding, and compile time (each setup
runs the kernels once on the same types).
"""

from __future__ import annotations

import numpy as np

from benchmarks.corpora import unit_mixture
from zerda_bench.dense import VectorIndex


class Index:
    """Normalising and laying out vectors."""

    params = (10_000, 50_000)
    param_names = ("n_docs",)

    def setup(self, n_docs: int) -> None:
        self.vectors = unit_mixture(n_docs, 384)

    def time_build(self, n_docs: int) -> None:
        VectorIndex(self.vectors)


class Search:
    """Eight single queries, a batch of 64, and a batch under a filter that one document in a hundred passes."""

    params = ((10_000, 50_000), (10, 1000))
    param_names = ("n_docs", "k")

    def setup(self, n_docs: int, k: int) -> None:
        vectors = unit_mixture(n_docs + 64, 384)
        self.index = VectorIndex(vectors[:n_docs])
        self.queries = vectors[n_docs:]
        self.mask = np.random.default_rng(2).random(n_docs) < 0.01
        self.index.search(self.queries[:2], k, n_threads=1)

    def time_single_queries(self, n_docs: int, k: int) -> None:
        for query in self.queries[:8]:
            self.index.search(query, k, n_threads=1)

    def time_batch(self, n_docs: int, k: int) -> None:
        self.index.search(self.queries, k, n_threads=1)

    def time_batch_filtered(self, n_docs: int, k: int) -> None:
        self.index.search(self.queries, k, allow=self.mask, n_threads=1)
