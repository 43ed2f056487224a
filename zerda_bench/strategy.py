"""The interface of a single retrieval leg."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from zerda_bench.models import ScoredChunk

__all__ = ["HybridRetrieverStrategy"]


class HybridRetrieverStrategy(ABC):
    """One way to find chunks for a query; `HybridRetriever` fuses several."""

    @abstractmethod
    def retrieve(self, query: str, top_k: int, filters: dict[str, Any] | None = None) -> list[ScoredChunk]:
        """Chunks for `query`, best first."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Name of the method, as in `RetrievalMethod`."""
