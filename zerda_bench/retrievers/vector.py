"""Vector retrieval: a native backend, a LangChain-style store, or vectors in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.config import ContextEngineConfig, option
from zerda_bench.filters import check_filters, matching_chunks
from zerda_bench.models import RetrievalMethod, ScoredChunk, chunk_text, content_hash
from zerda_bench.retrievers.backends import (
    Pairs,
    ScoreKind,
    check_score_kind,
    fetch_matching,
    native_filters,
    scored_pairs,
)
from zerda_bench.retrievers.query_cache import QueryCache
from zerda_bench.retrievers.texts import check_text, checked_texts
from zerda_bench.strategy import HybridRetrieverStrategy

if TYPE_CHECKING:
    from zerda_bench.dense import VectorIndex

__all__ = ["VectorRetriever"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Indexed:
    """What one indexing made. Replaced as a whole, so that readers never see halves of two."""

    chunks: list[Any] = field(default_factory=list)
    index: VectorIndex | None = None
    positions: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # vector -> chunk, ascending
    embed_fn: Callable[[str], Any] | None = None
    # Query vectors go with the embedder that made them: a reader still at work on an old index cannot leave one of its
    # vectors behind for the new.
    queries: QueryCache = field(default_factory=QueryCache)

    @cached_property
    def rows_of_hash(self) -> dict[str, list[int]]:
        """Rows of the index by content hash; several where texts are duplicated. Made when first needed."""
        rows: dict[str, list[int]] = {}
        for row, position in enumerate(self.positions.tolist()):
            rows.setdefault(content_hash(chunk_text(self.chunks[position])), []).append(row)
        return rows


def _indexed(
    chunks: list[Any], embeddings: Iterable[Any] | NDArray[Any], embed_fn: Callable[[str], Any] | None
) -> _Indexed:
    """Index one embedding a chunk; None leaves a chunk out of the search."""
    from zerda_bench.dense import VectorIndex

    if not isinstance(embeddings, np.ndarray):
        embeddings = list(embeddings)
    if len(embeddings) != len(chunks):
        raise ValueError(f"embeddings has {len(embeddings)} entries for {len(chunks)} chunks; give one a chunk")
    positions = [i for i, embedding in enumerate(embeddings) if embedding is not None]
    vectors = [np.asarray(embeddings[i]).reshape(-1) for i in positions]
    for i, vector in zip(positions, vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise ValueError(
                f"embeddings[{i}] has {len(vector)} dimensions, embeddings[{positions[0]}] has {len(vectors[0])}"
            )
        if vector.dtype.kind == "f" and not np.isfinite(vector).all():
            raise ValueError(f"embeddings[{i}] holds NaN or infinity")
    matrix = np.array(vectors)
    # float64 embeddings keep their precision, as they do in the published module.
    index = VectorIndex(matrix, dtype="float64" if matrix.dtype == np.float64 else "float32")
    return _Indexed(chunks, index, np.array(positions, np.int64), embed_fn)


class VectorRetriever(HybridRetrieverStrategy):
    """Find chunks by the similarity of their vectors with the query's.

    Each call takes the first of three modes that is set up: a native vector database (`vector_db`), a LangChain-style
    store (`vector_store_adapter`), or vectors in memory. A store that fails gives an error log and an empty answer.
    Safe for concurrent `retrieve` calls, also while another thread indexes: a call sees the old index or the new one.

    Parameters
    ----------
    config : ContextEngineConfig
        Read at every call.
    chunks : iterable of objects, optional
        For the mode in memory; the retriever keeps a list of its own.
    embeddings : iterable of real[dim], optional
        One a chunk: an array, a list of arrays or lists; None leaves a chunk out of the search.
    embed_fn : callable, optional
        From a text to ``real[dim]``.
    vector_store_adapter : object, optional
        With ``similarity_search_with_score(query, k=, filter=)``.
    vector_db : object, optional
        With ``search(query, top_k=, score_threshold=, ...)``.
    score_kind : {"similarity", "distance"} or callable
        What the scores of the adapter or backend are. ``"similarity"`` takes them as they are, in the store's order;
        ``"distance"`` turns them into ``1 / (1 + distance)``; a callable maps a raw score to a similarity. The last
        two put the best chunk first.

    Raises
    ------
    ValueError
        If `embeddings` and `chunks` differ in length, embeddings differ in dimension or hold NaN or infinity, or
        `score_kind` is unknown.
    """

    def __init__(
        self,
        config: ContextEngineConfig,
        chunks: Iterable[Any] | None = None,
        embeddings: Iterable[Any] | NDArray[Any] | None = None,
        embed_fn: Any | None = None,
        vector_store_adapter: Any | None = None,
        vector_db: Any | None = None,
        *,
        score_kind: ScoreKind = "similarity",
    ) -> None:
        _ = config.retriever  # a wrong config fails here, not at the first query
        self.cfg = config
        self.score_kind = check_score_kind(score_kind)
        self._vector_store = vector_store_adapter
        self._vector_db = vector_db
        kept = [] if chunks is None else list(chunks)
        # Vectors are never looked at beside a store, so they are not indexed then.
        stored = vector_db is not None or vector_store_adapter is not None
        if embeddings is None or stored:
            self._state = _Indexed(kept, embed_fn=embed_fn)
        else:
            self._state = _indexed(kept, embeddings, embed_fn)

    @property
    def method(self) -> str:
        """``"vector"``."""
        return RetrievalMethod.VECTOR.value

    def index_chunks(self, chunks: Iterable[Any], embed_fn: Any) -> None:
        """Embed and index `chunks`, replacing those from before; `embed_fn` is called once a chunk.

        Raises
        ------
        TypeError
            If a chunk's text is not a str; the message gives its position.
        ValueError
            If embeddings differ in dimension or hold NaN or infinity.
        Exception
            Whatever `embed_fn` raises. The old index stays in every case.
        """
        kept = list(chunks)
        logger.info("VectorRetriever: indexing %d chunk(s)", len(kept))
        texts = checked_texts(kept)
        self._state = _indexed(kept, [embed_fn(text) for text in texts], embed_fn)
        logger.info("VectorRetriever: index ready")

    def index_vector_db(
        self, chunks: Sequence[Any] | None, vector_db: Any, embeddings: NDArray[Any] | None = None
    ) -> None:
        """Use `vector_db` from now on, and add `chunks` to it if there are any.

        Parameters
        ----------
        chunks : sequence of objects
            May be empty or None, to attach to a database that is filled already.
        vector_db : object
            Embeds by its own means unless `embeddings` are given.
        embeddings : real[n_chunks, dim], optional

        Raises
        ------
        Exception
            Whatever ``vector_db.add`` raises.
        """
        self._vector_db = vector_db
        if chunks is None or len(chunks) == 0:
            return
        name = type(vector_db).__name__
        logger.info("VectorRetriever: adding %d chunk(s) to %s", len(chunks), name)
        vector_db.add(chunks, embeddings=embeddings)
        total = len(vector_db) if hasattr(vector_db, "__len__") else "unknown"
        logger.info("VectorRetriever: %s ready (total=%s)", name, total)

    def retrieve(self, query: str, top_k: int, filters: dict[str, Any] | None = None) -> list[ScoredChunk]:
        """The chunks most similar to `query`.

        Parameters
        ----------
        query : str
        top_k : int
            In memory it cuts as a slice does; backends get it as it is.
        filters : dict, optional
            Given to the backend or adapter, as they are unless ``filter_policy="translate"``: whatever the store takes
            for a filter will do. In memory they are used under ``filter_mode="strict"`` only, which applies them in
            every mode.

        Returns
        -------
        list of ScoredChunk
            Empty, with an error log, when a store fails or answers with anything but pairs of chunk and finite score;
            with a warning when nothing is indexed or the query cannot be embedded.

        Raises
        ------
        TypeError
            If `filters` is no mapping where it is applied or translated here, or in memory `query` is not a str.
        ValueError
            If the query's vector has another dimension than the indexed ones.
        """
        conditions = check_filters(filters) if option(self.cfg, "filter_mode") == "strict" else {}
        if self._vector_db is not None:
            return self._from_vector_db(query, top_k, filters, conditions)
        if self._vector_store is not None:
            return self._from_adapter(query, top_k, filters, conditions)
        return self._from_memory(query, top_k, conditions)

    def _from_vector_db(self, query: str, top_k: int, filters: Any, strict: Mapping[str, Any]) -> list[ScoredChunk]:
        translate = option(self.cfg, "filter_policy") == "translate"
        if translate:
            filters = check_filters(filters)
        minimum = self.cfg.retriever.min_vector_score
        # A threshold of the backend's is one on raw scores, so it goes out only if those are the similarities.
        native = self.score_kind == "similarity"
        threshold = minimum if native and minimum > 0 else None
        vector_db = self._vector_db

        def fetch(k: int) -> Pairs:
            found = vector_db.search(query, top_k=k, score_threshold=threshold, **keywords)  # type: ignore[union-attr]
            pairs = scored_pairs(found, self.score_kind)
            return pairs if native else [pair for pair in pairs if pair[1] >= minimum]

        try:
            keywords, left = native_filters(vector_db, filters, translate=translate)
            conditions = strict or left
            pairs = fetch_matching(fetch, top_k, conditions) if conditions else fetch(top_k)
        except Exception as error:  # noqa: BLE001 - the specification's fail-safe: any failure of a store
            logger.error("VectorRetriever: vector_db search failed: %s", error)
            return []
        return _vector_results(pairs, ranks=range(len(pairs)))

    def _from_adapter(self, query: str, top_k: int, filters: Any, strict: Mapping[str, Any]) -> list[ScoredChunk]:
        store: Any = self._vector_store

        def fetch(k: int) -> Pairs:
            return scored_pairs(store.similarity_search_with_score(query, k=k, filter=filters), self.score_kind)

        try:
            pairs = fetch_matching(fetch, top_k, strict) if strict else fetch(top_k)
        except Exception as error:  # noqa: BLE001 - the specification's fail-safe: any failure of a store
            logger.error("VectorRetriever: vector store search failed: %s", error)
            return []
        return _vector_results(pairs, ranks=[0] * len(pairs))  # the specification ranks adapter hits 0

    def _from_memory(self, query: str, top_k: int | None, strict: Mapping[str, Any]) -> list[ScoredChunk]:
        state = self._state
        index = state.index
        if index is None or index.n_docs == 0 or state.embed_fn is None:
            logger.warning("VectorRetriever: no chunks with embeddings, or no embed_fn, to search with")
            return []
        vector = self._query_vector(query, state)
        if vector is None:
            return []
        allowed = matching_chunks(state.chunks, strict)[state.positions] if strict else None
        wanted = len(range(index.n_docs)[:top_k])
        if top_k is None or top_k < 0:
            wanted = index.n_docs
        hits = index.search(vector, wanted, allow=allowed, min_score=self.cfg.retriever.min_vector_score)
        ids, scores = hits.row(0)
        positions = state.positions[ids].tolist()
        pairs = [(state.chunks[p], score) for p, score in zip(positions, scores.tolist(), strict=True)]
        return _vector_results(pairs, ranks=positions)[:top_k]

    def similarities(self, query: str, content_hashes: Sequence[str]) -> list[float]:
        """Cosine similarity of `query` with chunks that are indexed in memory, named by their content hashes.

        Returns
        -------
        list of float
            One a hash: the best of the chunks that have it; 0.0 where none is indexed here or reaches
            ``min_vector_score``, when the query cannot be embedded or when another mode is in use.
        """
        state = self._state
        unknown = [0.0] * len(content_hashes)
        in_memory = self._vector_db is None and self._vector_store is None
        if not in_memory or state.index is None or state.embed_fn is None:
            return unknown
        rows = [state.rows_of_hash.get(key, []) for key in content_hashes]
        wanted = {row for group in rows for row in group}
        vector = self._query_vector(query, state) if wanted else None
        if vector is None:
            return unknown
        hits = state.index.search(vector, len(wanted), allow=wanted, min_score=self.cfg.retriever.min_vector_score)
        score_of = dict(zip(*(part.tolist() for part in hits.row(0)), strict=True))
        return [max((score_of[row] for row in group if row in score_of), default=0.0) for group in rows]

    def _query_vector(self, query: str, state: _Indexed) -> NDArray[Any] | None:
        """The query's vector ``real[dim]``; None, with a warning, if it cannot be had."""
        text = check_text(query, "query")
        cached = state.queries.get(text)
        if cached is not None:
            return cached
        try:
            embedded = state.embed_fn(text)  # type: ignore[misc]  # callers have looked that there is one
            if embedded is None:
                return None
            vector = np.asarray(embedded).reshape(-1)
            if not np.isfinite(vector).all():
                raise ValueError("it holds NaN or infinity")
        except Exception as error:  # noqa: BLE001 - the specification's fail-safe: any failure of an embedder
            logger.warning("VectorRetriever: the query could not be embedded: %s", error)
            return None
        return state.queries.put(text, vector, option(self.cfg, "query_cache_size"))


def _vector_results(pairs: Pairs, ranks: Sequence[int]) -> list[ScoredChunk]:
    return [
        ScoredChunk(
            chunk=chunk,
            vector_score=score,
            composite_score=score,
            retrieval_method=RetrievalMethod.VECTOR,
            retrieval_rank=rank,
        )
        for (chunk, score), rank in zip(pairs, ranks, strict=True)
    ]
