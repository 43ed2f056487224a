"""The specified retrievers: chunk objects in, scored chunks out."""

from __future__ import annotations

from zerda_bench.retrievers.bm25_scorer import BM25Scorer
from zerda_bench.retrievers.hybrid import HybridRetriever
from zerda_bench.retrievers.keyword import KeywordRetriever
from zerda_bench.retrievers.metadata import MetadataRetriever
from zerda_bench.retrievers.vector import VectorRetriever

__all__ = ["BM25Scorer", "HybridRetriever", "KeywordRetriever", "MetadataRetriever", "VectorRetriever"]
