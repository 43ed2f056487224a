"""Hybrid retrieval: a weighted sum of the legs' scores with a reciprocal-rank bonus."""

from __future__ import annotations

import copy
import logging
import math
from typing import Any

from zerda_bench.config import ContextEngineConfig, option
from zerda_bench.filters import check_filters, chunk_matches
from zerda_bench.models import ScoredChunk
from zerda_bench.retrievers.keyword import KeywordRetriever
from zerda_bench.retrievers.metadata import MetadataRetriever
from zerda_bench.retrievers.vector import VectorRetriever

__all__ = ["HybridRetriever"]

logger = logging.getLogger(__name__)

_BONUS_WEIGHT = 0.20

#: Name of a leg, and what it returned.
Legs = list[tuple[str, list[ScoredChunk]]]


class HybridRetriever:
    """Fuse vector, keyword and metadata retrieval.

    Each leg is asked for candidates; they are merged by content hash, and a chunk's composite score is::

        vector_score * vector_weight + keyword_score * keyword_weight + metadata_score * metadata_weight
            + 0.20 * rrf / max(rrf)

    with ``rrf`` the sum of ``1 / (RRF_K + rank)`` over the legs that found it, rank 1 the best (Cormack, Clarke and
    Buettcher 2009). Without ``rrf_bonus`` the last term is left out. Of chunks with equal text the first is kept, with
    the best score and the best rank in each leg. Equal composite scores keep the order in which the legs brought them:
    vector, keyword, metadata.

    Parameters
    ----------
    config : ContextEngineConfig
        Read at every call.
    vector_retriever, keyword_retriever, metadata_retriever : optional
        Any objects with ``retrieve(query, top_k=, filters=)``. Their results are not changed.
    """

    RRF_K = 60

    def __init__(
        self,
        config: ContextEngineConfig,
        vector_retriever: VectorRetriever | None = None,
        keyword_retriever: KeywordRetriever | None = None,
        metadata_retriever: MetadataRetriever | None = None,
    ) -> None:
        _ = config.retriever  # a wrong config fails here, not at the first query
        self.cfg = config
        self._vector = vector_retriever
        self._keyword = keyword_retriever
        self._meta = metadata_retriever

    def retrieve(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> list[ScoredChunk]:
        """The best chunks of all legs together.

        Parameters
        ----------
        query : str
        top_k : int, optional
            None and 0 stand for ``config.retriever.top_k``; negative numbers drop from the end, as in a slice.
        filters : dict, optional
            Given to every leg as they are. By default the legs only weigh them in; under ``filter_mode="strict"`` no
            chunk that fails them is returned, whichever leg found it.

        Returns
        -------
        list of ScoredChunk
            Composite score descending; `ScoredChunk.leg_ranks` says where each leg had it. Empty, with a warning, if
            no leg found anything.

        Raises
        ------
        TypeError
            If `filters` is no mapping where it is applied here or by the metadata leg, or `query` is not a str.
        """
        settings = self.cfg.retriever
        strict = check_filters(filters) if option(self.cfg, "filter_mode") == "strict" else {}
        k = top_k or settings.top_k
        depth, metadata_depth = 2 * k, k
        if k > 0:  # a negative number is a slice, which no depth can stand in for
            least = option(self.cfg, "candidate_depth") or 0
            depth, metadata_depth = max(depth, least), max(metadata_depth, least)

        legs: Legs = []
        if settings.use_vector and self._vector is not None:
            legs.append(("vector", self._vector.retrieve(query, top_k=depth, filters=filters)))
        if settings.use_keyword and self._keyword is not None:
            legs.append(("keyword", self._keyword.retrieve(query, top_k=depth, filters=filters)))
        if settings.use_metadata and self._meta is not None and filters:
            legs.append(("metadata", self._meta.retrieve(query, top_k=metadata_depth, filters=filters)))
        if strict:
            # The legs filter for themselves; this also holds for legs that are not ours.
            legs = [(name, [sc for sc in found if chunk_matches(sc.chunk, strict)]) for name, found in legs]

        merged, votes = self._merge(legs)
        if not merged:
            logger.warning("HybridRetriever: nothing found for query: %s", str(query)[:60])
            return []
        if option(self.cfg, "score_keyword_hits_exactly") and isinstance(self._vector, VectorRetriever):
            unseen = [key for key, sc in merged.items() if sc.vector_score == 0.0]
            for key, similarity in zip(unseen, self._vector.similarities(query, unseen), strict=True):
                merged[key].vector_score = similarity
        bonus = _BONUS_WEIGHT / max(votes.values()) if option(self.cfg, "rrf_bonus") else 0.0
        for key, sc in merged.items():
            sc.composite_score = (
                sc.vector_score * settings.vector_weight
                + sc.keyword_score * settings.keyword_weight
                + sc.metadata_score * settings.metadata_weight
                + votes[key] * bonus
            )
        return sorted(merged.values(), key=_descending)[:k]

    def _merge(self, legs: Legs) -> tuple[dict[str, ScoredChunk], dict[str, float]]:
        """One result and one sum of votes for each content hash, in the order in which the legs brought them."""
        merged: dict[str, ScoredChunk] = {}
        ranks: dict[str, dict[str, int]] = {}
        for leg, found in legs:
            score = f"{leg}_score"
            for rank, sc in enumerate(found, start=1):
                key = sc.content_hash
                if key not in merged:
                    merged[key] = copy.copy(sc)
                    merged[key].leg_ranks = ranks[key] = {leg: rank}
                elif leg not in ranks[key]:
                    setattr(merged[key], score, getattr(sc, score))
                    ranks[key][leg] = rank
                else:
                    setattr(merged[key], score, max(getattr(merged[key], score), getattr(sc, score)))
        votes = {key: sum(1.0 / (self.RRF_K + rank) for rank in found.values()) for key, found in ranks.items()}
        return merged, votes


def _descending(sc: ScoredChunk) -> tuple[bool, float]:
    """Sort key: highest composite score first; NaN, which only a leg that is not ours can bring, last."""
    return math.isnan(sc.composite_score), -sc.composite_score
