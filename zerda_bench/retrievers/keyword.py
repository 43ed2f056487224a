"""Keyword retrieval: BM25 over chunk objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zerda_bench.config import ContextEngineConfig, option
from zerda_bench.filters import check_filters, matching_chunks
from zerda_bench.models import RetrievalMethod, ScoredChunk
from zerda_bench.retrievers.bm25_scorer import ranked
from zerda_bench.retrievers.texts import check_text, checked_texts
from zerda_bench.strategy import HybridRetrieverStrategy

if TYPE_CHECKING:
    from zerda_bench.sparse import BM25Index

__all__ = ["KeywordRetriever"]


class KeywordRetriever(HybridRetrieverStrategy):
    """Find chunks by BM25, with scores between 0 and 1.

    Safe for concurrent `retrieve` calls, also while another thread indexes: a call sees the old index or the new one.

    Parameters
    ----------
    config : ContextEngineConfig
        Read at every call.
    chunks : iterable of objects, optional
        Indexed at once. The retriever keeps a list of its own.
    """

    def __init__(self, config: ContextEngineConfig, chunks: Iterable[Any] | None = None) -> None:
        _ = config.retriever  # a wrong config fails here, not at the first query
        self.cfg = config
        # One reference to both, so that readers never see chunks of one indexing with postings of another.
        self._state: tuple[list[Any], BM25Index | None] = ([], None)
        if chunks is not None:
            self.index_chunks(chunks)

    @property
    def method(self) -> str:
        """``"keyword"``."""
        return RetrievalMethod.KEYWORD.value

    def index_chunks(self, chunks: Iterable[Any]) -> None:
        """Index `chunks`, replacing those from before; on an error the old index stays.

        Raises
        ------
        TypeError
            If a chunk's text is not a str; the message gives its position.
        """
        from zerda_bench.sparse import BM25Index

        kept = list(chunks)
        self._state = (kept, BM25Index.from_texts(checked_texts(kept)))

    def retrieve(self, query: str, top_k: int, filters: dict[str, Any] | None = None) -> list[ScoredChunk]:
        """The chunks that match `query` best.

        The best ``2 * top_k`` raw scores are divided by their maximum and cut to `top_k` as a slice does. Chunks that
        match nothing fill the answer up, unless ``pad_with_zero_scores`` is False.

        Parameters
        ----------
        query : str
        top_k : int
            Negative numbers drop from the end, as in a slice.
        filters : dict, optional
            Used under ``filter_mode="strict"`` only; document frequencies stay those of all chunks.

        Raises
        ------
        TypeError
            If `query` is not a str, or under ``filter_mode="strict"`` `filters` is no mapping.
        """
        text = check_text(query, "query")
        chunks, index = self._state
        strict = check_filters(filters) if option(self.cfg, "filter_mode") == "strict" else {}
        allowed = matching_chunks(chunks, strict) if strict else None
        wanted = top_k * 2
        if index is None:
            return []
        pairs = ranked(
            index, text, wanted, allowed=allowed, pad_with_zero_scores=option(self.cfg, "pad_with_zero_scores")
        )
        best = max((score for _, score in pairs), default=0.0) or 1.0
        return [
            ScoredChunk(
                chunk=chunks[position],
                keyword_score=score / best,
                composite_score=score / best,
                retrieval_method=RetrievalMethod.KEYWORD,
                retrieval_rank=position,
            )
            for position, score in pairs[:top_k]
        ]
