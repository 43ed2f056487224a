"""What an embedder is, and the checks that all of them share."""

from __future__ import annotations

import contextlib
import importlib.util
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Embedder",
    "Progress",
    "checked_vectors",
    "encode_batches",
    "one_blas_thread",
    "require_extra",
    "well_formed",
]

#: Told how many texts are done and how many there are.
Progress = Callable[[int, int], None]

# BLAS limits belong to the process: two embedders at once would lift each other's.
_BLAS_LOCK = threading.RLock()


class Embedder(ABC):
    """Turns texts into vectors whose cosine says how near their meanings are.

    Attributes
    ----------
    name : str
        Canonical text form: `get_embedder(name)` gives an equal embedder.
    version : str
        Changes whenever the vector of some text may change, down to the last bit: package, weights, numerics.
    fitted : bool
        Whether vectors depend on the documents given to `fit`.
    """

    name: str
    fitted: bool = False

    @property
    @abstractmethod
    def version(self) -> str: ...

    def fit(self, texts: Sequence[str]) -> None:  # noqa: B027  (most embedders are trained already)
        """Learn from the documents (never from queries). Does nothing unless `fitted`."""

    @abstractmethod
    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> NDArray[np.float32]:
        """Embed `texts` as float32[len(texts), dim], finite, not necessarily of length one."""


def checked_vectors(values: Any, n_texts: int, source: str, *, first: int = 0) -> NDArray[np.float32]:
    """Float32[n_texts, dim] of `values`; `first` is the position of row 0 among all texts, for messages.

    Raises
    ------
    ValueError
        If `values` is not a matrix with one row a text, or a row holds NaN or infinity.
    """
    try:
        vectors = np.ascontiguousarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"embedder {source}: not a matrix of numbers ({error})") from error
    if vectors.ndim != 2 or len(vectors) != n_texts or vectors.shape[1] == 0:
        raise ValueError(f"embedder {source}: expected shape ({n_texts}, dim) for {n_texts} texts, got {vectors.shape}")
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ValueError(f"embedder {source}: NaN or infinity in the vector of text {first + int(np.argmin(finite))}")
    return vectors


def encode_batches(
    texts: Sequence[str],
    size: int,
    call: Callable[[list[str]], Any],
    source: str,
    progress: Progress | None,
) -> NDArray[np.float32]:
    """Stack the checked answers of `call` on `size` texts at a time; float32[0, 0] for no texts.

    Raises
    ------
    ValueError
        As `checked_vectors`, or if the dimension changes between batches.
    """
    blocks: list[NDArray[np.float32]] = []
    for first in range(0, len(texts), size):
        batch = list(texts[first : first + size])
        block = checked_vectors(call(batch), len(batch), source, first=first)
        if blocks and block.shape[1] != blocks[0].shape[1]:
            raise ValueError(
                f"embedder {source}: {blocks[0].shape[1]} dimensions, but {block.shape[1]} from text {first} on"
            )
        blocks.append(block)
        if progress is not None:
            progress(first + len(batch), len(texts))
    return np.concatenate(blocks) if blocks else np.empty((0, 0), np.float32)


def well_formed(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD: JSON can carry them, UTF-8 (and so every tokenizer) cannot."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread while open, then as before.

    How BLAS splits a product among threads decides how its sums are rounded; with one thread the bytes are the same
    on any number of cores.
    """
    from threadpoolctl import threadpool_limits

    with _BLAS_LOCK, threadpool_limits(limits=1, user_api="blas"):
        yield


def require_extra(module: str, *, embedder: str, package: str, extra: str) -> None:
    """Check that `module` is there, without importing it.

    Raises
    ------
    ImportError
        If it is not, naming the package and the command that installs it.
    """
    if importlib.util.find_spec(module) is None:
        raise ImportError(f'embedder {embedder} needs {package}: pip install "zerda-bench[{extra}]"', name=module)
