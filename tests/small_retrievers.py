"""A few chunks, an embedder and retrievers over them: what the tests of the retrievers share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zerda_bench import (
    ContextEngineConfig,
    HybridRetriever,
    KeywordRetriever,
    MetadataRetriever,
    RetrieverConfig,
    ScoredChunk,
    VectorRetriever,
)


@dataclass
class Chunk:
    text: str
    doc_id: str = ""
    metadata: Any = field(default_factory=dict)


TEXTS = ["fox dog", "fox cat", "dog dog", "cow", "القاهرة عاصمة مصر", "fox مصر"]
CHUNKS = [Chunk(t, f"d{i}", {"lang": "ar" if i > 3 else "en", "page": i % 2}) for i, t in enumerate(TEXTS)]


def embed(text: str) -> np.ndarray:
    vector = np.zeros(8)
    for word in text.split():
        vector[sum(map(ord, word)) % 8] += 1.0
    return vector


def config(**options: Any) -> ContextEngineConfig:
    return ContextEngineConfig(retriever=RetrieverConfig(**options))


def vector(cfg: ContextEngineConfig, chunks: list[Chunk] = CHUNKS) -> VectorRetriever:
    return VectorRetriever(cfg, chunks, [embed(c.text) for c in chunks], embed)


def hybrid(**options: Any) -> HybridRetriever:
    cfg = config(use_metadata=True, **options)
    return HybridRetriever(cfg, vector(cfg), KeywordRetriever(cfg, CHUNKS), MetadataRetriever(cfg, CHUNKS))


def ids(results: list[ScoredChunk]) -> list[str]:
    return [result.doc_id for result in results]
