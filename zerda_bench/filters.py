"""Metadata filters of the retriever level: one rule for every leg.

A filter is a dict or another mapping; a chunk matches if all its entries do. A value that is a list matches any of its
items; any other value must be equal. A key that is missing, or whose value is None, never matches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.models import chunk_metadata_dict

__all__ = ["check_filters", "chunk_matches", "matches", "matching_chunks"]


def check_filters(filters: Any) -> Mapping[str, Any]:
    """`filters` if it is a mapping (None counts as empty); for every place that applies filters itself.

    Raises
    ------
    TypeError
        If it is anything else: taken for "no filter", it would leak what it was meant to keep out.
    """
    if filters is None:
        return {}
    if not isinstance(filters, Mapping):
        raise TypeError(f"filters must be a dict of metadata keys and values, not {type(filters).__name__}")
    return filters


def matches(metadata: dict[str, Any], filters: Mapping[str, Any]) -> bool:
    """Whether metadata satisfies every entry of `filters`."""
    for key, wanted in filters.items():
        value = metadata.get(key)
        if value is None:
            return False
        try:
            found = value in wanted if isinstance(wanted, list) else bool(value == wanted)
        except (TypeError, ValueError):
            # No yes or no comes of comparing an array (element by element) or a missing-value marker (pandas.NA).
            found = False
        if not found:
            return False
    return True


def chunk_matches(chunk: Any, filters: Mapping[str, Any]) -> bool:
    """Whether a chunk satisfies `filters`, for strict filtering.

    Beside its metadata a chunk has an id of its own: a filter on ``doc_id``, the only one that some backends know,
    looks at that where the metadata has none.
    """
    metadata = chunk_metadata_dict(getattr(chunk, "metadata", None))
    if "doc_id" in filters and metadata.get("doc_id") is None:
        metadata = {**metadata, "doc_id": getattr(chunk, "doc_id", "") or getattr(chunk, "id", "") or None}
    return matches(metadata, filters)


def matching_chunks(chunks: Sequence[Any], filters: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Mask ``bool[n_chunks]`` of the chunks that satisfy `filters`."""
    return np.fromiter((chunk_matches(chunk, filters) for chunk in chunks), np.bool_, len(chunks))
