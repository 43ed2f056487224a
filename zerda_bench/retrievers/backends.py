"""Asking stores outside: filter keywords, scores that are distances, and filtering what a store cannot filter."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from zerda_bench.filters import chunk_matches

__all__ = ["ScoreKind", "check_score_kind", "fetch_matching", "native_filters", "scored_pairs"]

logger = logging.getLogger(__name__)

Pairs = list[tuple[Any, float]]
#: What a store's scores mean: similarities, distances, or a function that turns one into a similarity.
ScoreKind = Literal["similarity", "distance"] | Callable[[float], float]

# Backends that name their filter in a way of their own, by class name.
_FILTER_KEYWORDS = {
    "ChromaVectorDatabase": "filters",
    "FAISSVectorDatabase": "doc_id_filter",
    "PineconeVectorDatabase": "filter_dict",
}
# Of any other backend, the first of these that its `search` takes.
_COMMON_KEYWORDS = ("filters", "filter_dict", "doc_id_filter", "where")

# When a store cannot filter, this many times more candidates are asked for each time, up to the limit.
_GROWTH = 4
_MOST_CANDIDATES = 1 << 20


def check_score_kind(kind: Any) -> ScoreKind:
    """`kind` if it is one.

    Raises
    ------
    ValueError
        If it is neither ``"similarity"`` nor ``"distance"`` nor callable.
    """
    if kind in ("similarity", "distance") or callable(kind):
        return kind  # type: ignore[no-any-return]
    raise ValueError(f"score_kind must be 'similarity', 'distance' or a callable, got {kind!r}")


def _filter_keyword(vector_db: Any) -> str | None:
    name = type(vector_db).__name__
    if name in _FILTER_KEYWORDS:
        return _FILTER_KEYWORDS[name]
    try:
        parameters = inspect.signature(vector_db.search).parameters
    except (TypeError, ValueError):  # builtins and C functions have no signature
        return None
    return next((keyword for keyword in _COMMON_KEYWORDS if keyword in parameters), None)


def native_filters(vector_db: Any, filters: Any, *, translate: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Put `filters` in the terms of a native backend.

    Parameters
    ----------
    vector_db : object
    filters : mapping
        Or, without `translate`, whatever the backend takes for a filter.
    translate : bool
        Whether lists and several keys are translated for Chroma, and what the backend cannot filter is returned as
        the second dict. Otherwise that is dropped, as documented.

    Returns
    -------
    keywords : dict
        Keyword arguments for the backend's ``search``.
    left : dict
        The part of `filters` to apply to its answer.
    """
    if not filters:
        return {}, {}
    keyword = _filter_keyword(vector_db)
    if keyword is None:
        logger.debug(
            "%s.search() has no filter keyword; filters=%r is not passed on", type(vector_db).__name__, filters
        )
        return {}, dict(filters) if translate else {}
    if keyword == "doc_id_filter":
        left = {key: value for key, value in filters.items() if key != "doc_id"} if translate else {}
        return ({keyword: filters["doc_id"]} if "doc_id" in filters else {}), left
    if translate and type(vector_db).__name__ == "ChromaVectorDatabase":
        conditions = [{key: {"$in": value} if isinstance(value, list) else value} for key, value in filters.items()]
        return {keyword: conditions[0] if len(conditions) == 1 else {"$and": conditions}}, {}
    return {keyword: filters}, {}


def scored_pairs(results: Any, kind: ScoreKind) -> Pairs:
    """A store's answer as pairs of chunk and similarity.

    Similarities keep the store's order. Distances become ``1 / (1 + distance)``; these, and what a callable returns,
    are put in descending order, equal ones in the store's.

    Raises
    ------
    TypeError, ValueError
        If a row is no pair, or its score is no finite number.
    """
    pairs: Pairs = []
    for position, (chunk, raw) in enumerate(results):
        score = float(raw)
        if callable(kind):
            score = float(kind(score))
        elif kind == "distance":
            if score < 0.0:
                raise ValueError(f"result {position} has distance {score}; distances are 0 or greater")
            score = 1.0 / (1.0 + score)
        if not math.isfinite(score):
            raise ValueError(f"result {position} has score {raw!r}, which is no finite number")
        pairs.append((chunk, score))
    if kind != "similarity":
        pairs.sort(key=lambda pair: -pair[1])
    return pairs


def fetch_matching(fetch: Callable[[int], Pairs], top_k: int, conditions: Mapping[str, Any]) -> Pairs:
    """Ask for more and more candidates until `top_k` of them satisfy `conditions` or the store has no more.

    Parameters
    ----------
    fetch : callable
        Returns the store's best pairs for a number of candidates.
    """
    asked, before = top_k, -1
    while True:
        pairs = fetch(asked)
        passed = [pair for pair in pairs if chunk_matches(pair[0], conditions)]
        # A store that was asked for more and brings no more is exhausted, or has a limit of its own.
        if len(passed) >= top_k or len(pairs) < asked or len(pairs) == before:
            return passed[:top_k]
        if asked >= _MOST_CANDIDATES:
            logger.warning("only the best %d candidates were filtered; %d of %d passed", asked, len(passed), top_k)
            return passed
        asked, before = asked * _GROWTH, len(pairs)
