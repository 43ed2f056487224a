"""The two legs of an experiment: built, searched and timed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zerda_bench.dense import VectorIndex
from zerda_bench.eval.embedders import embed_cached
from zerda_bench.eval.plan import Plan
from zerda_bench.eval.stages import Report, Stages
from zerda_bench.hits import Hits
from zerda_bench.sparse import BM25Index

__all__ = ["Latency", "Leg", "dense_leg", "sparse_leg"]

# Queries searched between two reports of progress.
_SLICE = 1024
# Queries that latency is measured on, at most.
_LATENCY_QUERIES = 200


@dataclass(frozen=True, slots=True)
class Latency:
    """Wall time of single-query calls on one thread, in milliseconds, over a fixed sample of the queries."""

    queries: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Embedding:
    """Dimensions of the vectors, and whether those of documents and queries were on disk already."""

    dim: int
    documents_from_cache: bool
    queries_from_cache: bool


@dataclass(frozen=True, slots=True)
class Leg:
    """What a leg cost.

    Attributes
    ----------
    index_bytes : int
    latency : Latency
    batch_seconds : float
        Wall time of the batch search over all queries on all threads.
    queries_per_second : float
        Of that batch.
    queries_without_hits : int
    embedding : Embedding or None
        Of the dense leg.
    """

    index_bytes: int
    latency: Latency
    batch_seconds: float
    queries_per_second: float
    queries_without_hits: int
    embedding: Embedding | None = None


def sparse_leg(plan: Plan, queries: Sequence[str], threads: int, stages: Stages) -> tuple[Hits, Leg]:
    """BM25 over the documents, searched for `queries`."""
    analyzer = plan.analyzer
    if analyzer is None:
        raise ValueError("the plan has no sparse leg")
    texts = plan.dataset.texts
    with stages("tokenise") as report:
        # One str object a term, not one a token.
        terms: dict[str, str] = {}
        documents = []
        for done, text in enumerate(texts, 1):
            documents.append([terms.setdefault(token, token) for token in analyzer(text)])
            if done % _SLICE == 0:
                report(done, len(texts))
    with stages("index"):
        index = BM25Index.from_tokens(documents, analyzer=analyzer, k1=plan.k1, b=plan.b)
    del documents, terms
    return _searched(
        "bm25",
        lambda batch, n_threads: index.search(batch, plan.depth, n_threads=n_threads),
        queries,
        min(plan.depth, index.n_docs),
        index.nbytes,
        threads,
        stages,
    )


def dense_leg(
    plan: Plan, queries: Sequence[str], threads: int, cache_dir: str | Path | None, stages: Stages
) -> tuple[Hits, Leg]:
    """Cosine over embeddings of the documents, searched for those of `queries`."""
    embedder = plan.embedder
    if embedder is None:
        raise ValueError("the plan has no dense leg")
    texts = plan.dataset.texts
    corpus_hash = _digest(texts)
    with stages("embed documents") as report:
        embedder.fit(texts)
        documents = embed_cached(embedder, texts, corpus_hash=corpus_hash, cache_dir=cache_dir, progress=report)
    with stages("embed queries") as report:
        asked = embed_cached(embedder, queries, corpus_hash=corpus_hash, cache_dir=cache_dir, progress=report)
    with stages("index vectors"):
        index = VectorIndex(documents.vectors)
    embedding = Embedding(index.dim, documents.from_cache, asked.from_cache)
    del documents
    return _searched(
        "dense",
        lambda batch, n_threads: index.search(batch, plan.depth, n_threads=n_threads),
        asked.vectors,
        min(plan.depth, index.n_docs),
        index.nbytes,
        threads,
        stages,
        embedding,
    )


def _searched(
    name: str,
    search: Callable[[Any, int], Hits],
    queries: Any,
    width: int,
    index_bytes: int,
    threads: int,
    stages: Stages,
    embedding: Embedding | None = None,
) -> tuple[Hits, Leg]:
    """Search all queries at once, then a sample of them one by one."""
    n_queries = len(queries)
    hits = Hits.empty(n_queries, width)
    with stages(f"search {name}") as report:
        for start in range(0, n_queries, _SLICE):
            part = search(queries[start : start + _SLICE], threads)
            stop = start + len(part)
            hits.ids[start:stop], hits.scores[start:stop], hits.counts[start:stop] = part.ids, part.scores, part.counts
            report(stop, n_queries)
    batch_seconds = stages.last_seconds
    with stages(f"latency {name}") as report:
        latency = _latency(lambda one: search(one, 1), queries, report)
    return hits, Leg(
        index_bytes=index_bytes,
        latency=latency,
        batch_seconds=batch_seconds,
        queries_per_second=n_queries / batch_seconds,
        queries_without_hits=int((hits.counts == 0).sum()),
        embedding=embedding,
    )


def _latency(search: Callable[[Any], Hits], queries: Any, report: Report) -> Latency:
    """Time single-query calls on queries at equal distances, each once."""
    count = min(len(queries), _LATENCY_QUERIES)
    times: list[float] = []
    for row in (i * len(queries) // count for i in range(count)):
        one = queries[row : row + 1]
        started = time.perf_counter()
        search(one)
        times.append(1000.0 * (time.perf_counter() - started))
        report(len(times), count)
    p50, p95, p99 = np.percentile(times, [50, 95, 99]).tolist()
    return Latency(len(times), p50, p95, p99)


def _digest(texts: Sequence[str]) -> str:
    """SHA-256 over texts, in order."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
