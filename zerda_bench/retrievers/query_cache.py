"""Remembering query embeddings."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["QueryCache"]


class QueryCache:
    """The most recently used query vectors of one indexing, hence of one embedder; safe to share between threads.

    Vectors are copied on the way in and read-only, so nobody can change them from outside.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, NDArray[Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, query: str) -> NDArray[Any] | None:
        """The vector of `query`, or None."""
        with self._lock:
            vector = self._vectors.get(query)
            if vector is not None:
                self._vectors.move_to_end(query)
            return vector

    def put(self, query: str, vector: NDArray[Any], size: int) -> NDArray[Any]:
        """Keep a copy of `vector`, at most `size` in all, and return that copy."""
        kept = np.array(vector)
        kept.flags.writeable = False
        with self._lock:
            self._vectors[query] = kept
            self._vectors.move_to_end(query)
            while len(self._vectors) > size:
                self._vectors.popitem(last=False)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # locks do not pickle, and neither need vectors
