"""Configuration of the retrievers."""

from __future__ import annotations

import math
import operator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

__all__ = ["ContextEngineConfig", "RetrieverConfig", "option"]


@dataclass
class RetrieverConfig:
    """Settings that the retrievers read at every call.

    The documented fields come first, with their documented defaults. The keyword-only options after them default to
    the documented behaviour too.

    Attributes
    ----------
    top_k : int
        Results of `HybridRetriever.retrieve` where the call names no number.
    vector_weight, keyword_weight, metadata_weight : float
        Weights of the composite score. They need not add up to 1.
    use_vector, use_keyword, use_metadata : bool
        Which legs take part in hybrid retrieval.
    metadata_filters : dict
        Kept for compatibility: the published retrievers do not read it either. Pass `filters` to `retrieve`.
    min_vector_score : float
        In memory, chunks of lower cosine similarity are dropped; native backends get it as a threshold if above 0.
    pad_with_zero_scores : bool
        Whether keyword retrieval fills its answer up to `top_k` with chunks that match nothing, in index order
        (documented), or returns matches only.
    filter_mode : {"boost", "strict"}
        ``"boost"``: filters reach the backends and the metadata leg, whose hits gain weight (documented).
        ``"strict"``: a chunk that does not match the filters is never returned, by any leg.
    filter_policy : {"documented", "translate"}
        For native backends. ``"documented"``: filters are handed over as they are, and what a backend has no keyword
        for is dropped. ``"translate"``: lists and several keys are put in Chroma's terms, and what the backend cannot
        filter is filtered here, over a longer candidate list.
    candidate_depth : int, optional
        Candidates that hybrid retrieval asks each leg for, where that is more than the documented ``2 * top_k``
        (``top_k`` for the metadata leg).
    score_keyword_hits_exactly : bool
        Whether chunks that the vector leg did not bring get their true cosine similarity, not 0 (in memory only).
    rrf_bonus : bool
        Whether the reciprocal-rank bonus counts, as in the published package (the fusion variant ``zerda``), or is
        discarded, as its documentation has it (``zerda-documented``).
    query_cache_size : int
        Query embeddings that a `VectorRetriever` remembers; the least recently used go first.

    Raises
    ------
    ValueError
        If an option has a value that is not listed here.
    """

    top_k: int = 20
    vector_weight: float = 0.6
    keyword_weight: float = 0.3
    metadata_weight: float = 0.1
    use_vector: bool = True
    use_keyword: bool = True
    use_metadata: bool = False
    metadata_filters: dict[str, str] = field(default_factory=dict)
    min_vector_score: float = 0.0
    _: KW_ONLY
    pad_with_zero_scores: bool = True
    filter_mode: Literal["boost", "strict"] = "boost"
    filter_policy: Literal["documented", "translate"] = "documented"
    candidate_depth: int | None = None
    score_keyword_hits_exactly: bool = False
    rrf_bonus: bool = True
    query_cache_size: int = 1024

    def __post_init__(self) -> None:
        for name in (*_CHOICES, *_SMALLEST):
            _checked(name, getattr(self, name))
        for name in ("vector_weight", "keyword_weight", "metadata_weight"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} must be a finite number, got {getattr(self, name)}")
        if math.isnan(self.min_vector_score):
            raise ValueError("min_vector_score must be a number, got nan")


@dataclass(kw_only=True)
class ContextEngineConfig:
    """What the retrievers take as their configuration; they read its `retriever` section.

    A `ContextEngineConfig` of the zerda package serves as well: options that it lacks have their defaults.
    """

    retriever: RetrieverConfig = field(default_factory=RetrieverConfig)
    language: str = "auto"


_DEFAULTS = RetrieverConfig.__dataclass_fields__
_CHOICES: dict[str, tuple[Any, ...]] = {
    "pad_with_zero_scores": (True, False),
    "filter_mode": ("boost", "strict"),
    "filter_policy": ("documented", "translate"),
    "score_keyword_hits_exactly": (True, False),
    "rrf_bonus": (True, False),
}
_SMALLEST = {"candidate_depth": 1, "query_cache_size": 0}


def _checked(name: str, value: Any) -> Any:
    # Checked again at each use: a config can be changed after it was made, and a misspelt "strict" must not leak.
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, _CHOICES[name]))}, got {value!r}")
    if name in _SMALLEST and not (value is None and _DEFAULTS[name].default is None):
        allowed = f"an integer of at least {_SMALLEST[name]}"
        try:
            value = operator.index(value)
        except TypeError:
            raise ValueError(f"{name} must be {allowed}, got {value!r}") from None
        if value < _SMALLEST[name]:
            raise ValueError(f"{name} must be {allowed}, got {value}")
    return value


def option(config: Any, name: str) -> Any:
    """The value of a keyword-only option; its default where `config` is another package's and has no such field."""
    return _checked(name, getattr(config.retriever, name, _DEFAULTS[name].default))
