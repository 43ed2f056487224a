"""BM25: building an index from tokens and from text, and searching it in batches and one query at a time.

Measured: synthetic corpora of 10,000 and 100,000 documents, and real text where it is at hand. Not measured: text
analysis apart from indexing, and compile time (each setup runs the kernels once on the same types).
"""

from __future__ import annotations

from benchmarks.corpora import keyword_queries, real_texts, synthetic_tokens
from zerda_bench.sparse import BM25Index


class Index:
    """Building from token lists."""

    params = (10_000, 100_000)
    param_names = ("n_docs",)
    timeout = 300

    def setup(self, n_docs: int) -> None:
        self.documents = synthetic_tokens(n_docs)
        BM25Index.from_tokens(self.documents[:10])

    def time_from_tokens(self, n_docs: int) -> None:
        BM25Index.from_tokens(self.documents)

    def track_bytes_per_posting(self, n_docs: int) -> float:
        index = BM25Index.from_tokens(self.documents)
        return index.nbytes / index.n_postings

    track_bytes_per_posting.unit = "bytes"  # type: ignore[attr-defined]


class IndexText:
    """Analysing and indexing real text."""

    params = (("scifact", "arcd"), ("zerda", "english", "arabic"))
    param_names = ("collection", "analyzer")

    def setup(self, collection: str, analyzer: str) -> None:
        self.texts = real_texts(collection)
        BM25Index.from_texts(self.texts[:10], analyzer=analyzer)

    def time_from_texts(self, collection: str, analyzer: str) -> None:
        BM25Index.from_texts(self.texts, analyzer=analyzer)


class Search:
    """Batches of 200 queries, and 20 queries one after the other; one thread."""

    params = ((10_000, 100_000), (2, 6, 40), (10, 1000))
    param_names = ("n_docs", "n_terms", "k")
    timeout = 300

    def setup(self, n_docs: int, n_terms: int, k: int) -> None:
        documents = synthetic_tokens(n_docs)
        self.index = BM25Index.from_tokens(documents)
        self.queries = keyword_queries(documents, 200, n_terms)
        self.index.search(self.queries[:2], k, n_threads=1)

    def time_batch(self, n_docs: int, n_terms: int, k: int) -> None:
        self.index.search(self.queries, k, n_threads=1)

    def time_single_queries(self, n_docs: int, n_terms: int, k: int) -> None:
        for query in self.queries[:20]:
            self.index.search(query, k, n_threads=1)
