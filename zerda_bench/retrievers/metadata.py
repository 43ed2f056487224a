"""Metadata retrieval: every chunk that satisfies the filters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zerda_bench.config import ContextEngineConfig
from zerda_bench.filters import check_filters, matches
from zerda_bench.models import RetrievalMethod, ScoredChunk, chunk_metadata_dict
from zerda_bench.strategy import HybridRetrieverStrategy

__all__ = ["MetadataRetriever"]


class MetadataRetriever(HybridRetrieverStrategy):
    """Find chunks by their metadata; the text of the query plays no part.

    Parameters
    ----------
    config : ContextEngineConfig
    chunks : iterable of objects, optional
        The retriever keeps a list of its own.
    """

    def __init__(self, config: ContextEngineConfig, chunks: Iterable[Any] | None = None) -> None:
        _ = config.retriever  # a wrong config fails here, not at the first query
        self.cfg = config
        self._chunks: list[Any] = [] if chunks is None else list(chunks)

    @property
    def method(self) -> str:
        """``"metadata"``."""
        return RetrievalMethod.METADATA.value

    def index_chunks(self, chunks: Iterable[Any]) -> None:
        """Replace the chunks."""
        self._chunks = list(chunks)

    def retrieve(self, query: str, top_k: int, filters: dict[str, Any] | None = None) -> list[ScoredChunk]:
        """Chunks that satisfy `filters`, in corpus order, each with score 1.0; none without filters.

        Parameters
        ----------
        query : str
            Not used.
        top_k : int
            Cuts as a slice does.
        filters : dict, optional
            See `zerda_bench.filters`.

        Raises
        ------
        TypeError
            If `filters` is no mapping.
        """
        conditions = check_filters(filters)
        if not conditions:
            return []
        found = [
            (position, chunk)
            for position, chunk in enumerate(self._chunks)
            if matches(chunk_metadata_dict(getattr(chunk, "metadata", None)), conditions)
        ]
        return [
            ScoredChunk(
                chunk=chunk,
                metadata_score=1.0,
                composite_score=1.0,
                retrieval_method=RetrievalMethod.METADATA,
                retrieval_rank=position,
            )
            for position, chunk in found[:top_k]
        ]
