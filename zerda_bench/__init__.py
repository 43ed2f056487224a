"""A fast, exact hybrid retriever on Numba kernels, for Arabic and English.

Names are imported on first use: ``import zerda_bench`` itself loads nothing heavy and compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zerda_bench.analysis import Analyzer, get_analyzer
    from zerda_bench.config import ContextEngineConfig, RetrieverConfig
    from zerda_bench.dense import VectorIndex
    from zerda_bench.fusion import fuse, parse_method
    from zerda_bench.hits import Hits
    from zerda_bench.models import RetrievalMethod, ScoredChunk, SourceQuality, chunk_metadata_dict
    from zerda_bench.retrievers import (
        BM25Scorer,
        HybridRetriever,
        KeywordRetriever,
        MetadataRetriever,
        VectorRetriever,
    )
    from zerda_bench.sparse import BM25Index
    from zerda_bench.strategy import HybridRetrieverStrategy

_HOME = {
    "Analyzer": "analysis",
    "BM25Index": "sparse",
    "BM25Scorer": "retrievers",
    "ContextEngineConfig": "config",
    "Hits": "hits",
    "HybridRetriever": "retrievers",
    "HybridRetrieverStrategy": "strategy",
    "KeywordRetriever": "retrievers",
    "MetadataRetriever": "retrievers",
    "RetrievalMethod": "models",
    "RetrieverConfig": "config",
    "ScoredChunk": "models",
    "SourceQuality": "models",
    "VectorIndex": "dense",
    "VectorRetriever": "retrievers",
    "chunk_metadata_dict": "models",
    "fuse": "fusion",
    "get_analyzer": "analysis",
    "parse_method": "fusion",
}

__all__ = [
    "Analyzer",
    "BM25Index",
    "BM25Scorer",
    "ContextEngineConfig",
    "Hits",
    "HybridRetriever",
    "HybridRetrieverStrategy",
    "KeywordRetriever",
    "MetadataRetriever",
    "RetrievalMethod",
    "RetrieverConfig",
    "ScoredChunk",
    "SourceQuality",
    "VectorIndex",
    "VectorRetriever",
    "chunk_metadata_dict",
    "fuse",
    "get_analyzer",
    "parse_method",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("zerda-bench")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
