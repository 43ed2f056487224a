"""Results of retrieval, and what is read from chunk objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, cast

__all__ = ["RetrievalMethod", "ScoredChunk", "SourceQuality", "chunk_metadata_dict", "chunk_text", "content_hash"]

_PREVIEW_LENGTH = 120


class RetrievalMethod(Enum):
    """Which retriever found a chunk first."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    METADATA = "metadata"
    HYBRID = "hybrid"


class SourceQuality(Enum):
    """Trust in a source; the retrievers leave it at UNKNOWN."""

    HIGH = 3
    MEDIUM = 2
    LOW = 1
    UNKNOWN = 0


def chunk_text(chunk: Any) -> Any:
    """The chunk's `text`; where that is missing or empty its `page_content`; else ``""``."""
    return getattr(chunk, "text", "") or getattr(chunk, "page_content", "")


def content_hash(text: str) -> str:
    """SHA-256, in hexadecimal, of `text` lower-cased and with runs of white space as one blank."""
    return hashlib.sha256(" ".join(text.lower().split()).encode("utf-8")).hexdigest()


def chunk_metadata_dict(meta: Any) -> dict[str, Any]:
    """Metadata as a dict: a dict as it is, a dataclass by its fields, anything else as empty.

    Raises
    ------
    TypeError
        If `meta` is a dataclass itself, not an instance of one.
    """
    if isinstance(meta, dict):
        return meta
    if is_dataclass(meta):
        return asdict(meta)  # type: ignore[arg-type]  # a class makes asdict raise, as documented
    return {}


@dataclass
class ScoredChunk:
    """A chunk with its scores. Unpacks as ``chunk, composite_score``.

    Attributes
    ----------
    chunk : object
        Anything with `text` or `page_content`, and optionally `doc_id` or `id`, `metadata` and `source`.
    vector_score, keyword_score, metadata_score : float
        Score of each leg, 0.0 where the leg did not find the chunk.
    source_quality : SourceQuality
    recency_score : float
    composite_score : float
        What results are ordered by.
    retrieval_method : RetrievalMethod
        The leg that found the chunk first.
    retrieval_rank : int
        In memory, the chunk's position in the corpus; with a native backend, its position in the answer.
    leg_ranks : mapping of str to int
        After hybrid retrieval: the chunk's rank, 1 the best, in each leg that found it, under the leg's name
        (``"vector"``, ``"keyword"``, ``"metadata"``). Otherwise empty.
    """

    chunk: Any
    vector_score: float = 0.0
    keyword_score: float = 0.0
    metadata_score: float = 0.0
    source_quality: SourceQuality = SourceQuality.UNKNOWN
    recency_score: float = 0.0
    composite_score: float = 0.0
    retrieval_method: RetrievalMethod = RetrievalMethod.VECTOR
    retrieval_rank: int = 0
    _content_hash: str = field(default="", repr=False)
    # Not annotated, so not a dataclass field: fields, equality and repr stay as published.
    leg_ranks = cast("Mapping[str, int]", MappingProxyType({}))

    def __post_init__(self) -> None:
        self._content_hash = content_hash(self.text)

    @property
    def content_hash(self) -> str:
        """`content_hash` of the text at construction: what equal results are merged by."""
        return self._content_hash

    @property
    def text(self) -> str:
        """The chunk's text, see `chunk_text`."""
        text: str = chunk_text(self.chunk)
        return text

    @property
    def char_count(self) -> int:
        """Length of the text in code points."""
        return len(self.text)

    @property
    def doc_id(self) -> Any:
        """The chunk's `doc_id`, else its `id`, else ``""``."""
        return getattr(self.chunk, "doc_id", "") or getattr(self.chunk, "id", "")

    @property
    def metadata(self) -> dict[str, Any]:
        """The chunk's metadata as a dict."""
        return chunk_metadata_dict(getattr(self.chunk, "metadata", None))

    @property
    def source(self) -> Any:
        """`source` in the metadata, else the chunk's own, else its document id."""
        return self.metadata.get("source") or getattr(self.chunk, "source", "") or self.doc_id

    def to_dict(self) -> dict[str, Any]:
        """A summary for logs and JSON, scores rounded to four decimals."""
        return {
            "doc_id": self.doc_id,
            "text_preview": self.text[:_PREVIEW_LENGTH],
            "vector_score": round(self.vector_score, 4),
            "keyword_score": round(self.keyword_score, 4),
            "composite_score": round(self.composite_score, 4),
            "source_quality": self.source_quality.name,
            "retrieval_method": self.retrieval_method.value,
        }

    def __iter__(self) -> Iterator[Any]:
        """Yield the chunk, then its composite score."""
        yield self.chunk
        yield self.composite_score
