"""Remembering query embeddings."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["QueryCache"]


class QueryCache:
    """The most recently used query vectors of one embedder; safe to share between threads.

    A vector is kept under its query and the embedder that made it: asked on behalf of another embedder, the cache is
    emptied. Vectors are copied on the way in and read-only, so nobody can change them from outside.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._embedder: Any = None
        self._vectors: OrderedDict[str, NDArray[Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._vectors.clear()

    def get(self, embedder: Any, query: str) -> NDArray[Any] | None:
        """The vector of `query`, or None."""
        with self._lock:
            if embedder is not self._embedder:
                self._vectors.clear()
                self._embedder = embedder
            vector = self._vectors.get(query)
            if vector is not None:
                self._vectors.move_to_end(query)
            return vector

    def put(self, embedder: Any, query: str, vector: NDArray[Any], size: int) -> NDArray[Any]:
        """Keep a copy of `vector`, at most `size` in all, and return that copy."""
        kept = np.array(vector)
        kept.flags.writeable = False
        with self._lock:
            if embedder is self._embedder and size > 0:
                self._vectors[query] = kept
                self._vectors.move_to_end(query)
                while len(self._vectors) > size:
                    self._vectors.popitem(last=False)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # locks do not pickle, and neither need vectors
