"""Checks of arguments that the indexes share. Each error names the argument and what to pass instead."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arrays import frozen

__all__ = ["Allow", "allow_masks", "check_k", "check_text", "check_texts"]

Mask = NDArray[np.bool_]
#: Nothing, one mask or id set for every query, a mask a query, or a sequence with one entry a query.
Allow = Mask | NDArray[np.integer[Any]] | set[int] | frozenset[int] | Sequence[Any] | None


def check_k(k: int) -> int:
    """`k` as a non-negative int.

    Raises
    ------
    TypeError
        If `k` is no integer.
    ValueError
        If `k` is negative.
    """
    try:
        value = operator.index(k)
    except TypeError:
        raise TypeError(f"k must be an integer, not {type(k).__name__}") from None
    if value < 0:
        raise ValueError(f"k must be 0 or greater, got {value}")
    return value


def check_text(text: object, argument: str) -> str:
    """`text` if it is a str; else a TypeError that names `argument`."""
    if not isinstance(text, str):
        hint = "; decode bytes first" if isinstance(text, (bytes, bytearray)) else ""
        raise TypeError(f"{argument} must be a str, not {type(text).__name__}{hint}")
    return text


def check_texts(texts: object, argument: str) -> list[str]:
    """A list of the texts; a lone str counts as a batch of one.

    Raises
    ------
    TypeError
        If `texts` is not iterable or holds anything but str; the message gives the position.
    """
    if isinstance(texts, str):
        return [texts]
    if isinstance(texts, (bytes, bytearray)) or not isinstance(texts, Iterable):
        raise TypeError(f"{argument} must be a str or an iterable of str, not {type(texts).__name__}")
    return [check_text(text, f"{argument}[{i}]") for i, text in enumerate(texts)]


def _mask_of(entry: Any, n_docs: int, argument: str) -> Mask:
    """One mask ``bool[n_docs]`` from a mask or an id set."""
    if isinstance(entry, (set, frozenset)):
        entry = sorted(entry)
    array = np.asarray(entry)
    if array.ndim != 1:
        raise ValueError(f"{argument} must be one-dimensional, got shape {array.shape}")
    if array.dtype == np.bool_:
        if len(array) != n_docs:
            raise ValueError(f"{argument} is a mask of {len(array)} entries, but the index holds {n_docs} documents")
        return array
    mask = np.zeros(n_docs, np.bool_)
    if array.size == 0:
        return mask
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{argument} must be a bool mask or integer document ids, not {array.dtype}")
    if array.min() < 0 or array.max() >= n_docs:
        bad = array[(array < 0) | (array >= n_docs)][0]
        raise ValueError(f"{argument} names document {bad}, but the index holds documents 0 to {n_docs - 1}")
    mask[array] = True
    return mask


def allow_masks(allow: Allow, n_queries: int, n_docs: int) -> tuple[Mask, NDArray[np.int64]]:
    """Compile `allow` to the form that kernels take.

    Parameters
    ----------
    allow
        ``None`` (every document), a mask ``bool[n_docs]`` or a set or array of document ids for all queries, a mask
        ``bool[n_queries, n_docs]``, or a sequence with one entry a query, each ``None``, a mask or ids. A list of
        ints is an id set; a list of anything else is one entry a query.

    Returns
    -------
    masks : bool[n_masks, n_docs]
    mask_rows : int64[n_queries]
        Row of `masks` for each query, -1 for no filter.

    Raises
    ------
    TypeError, ValueError
        For masks of the wrong length, ids outside the index or the wrong number of entries.
    """
    rows = np.full(n_queries, -1, np.int64)
    if allow is None:
        return frozen(np.zeros((0, n_docs), np.bool_)), frozen(rows)
    if isinstance(allow, np.ndarray) and allow.ndim == 2:
        if allow.dtype != np.bool_ or allow.shape != (n_queries, n_docs):
            raise ValueError(
                f"allow must be bool[{n_queries}, {n_docs}] (queries, documents), got {allow.dtype}{list(allow.shape)}"
            )
        return frozen(allow.astype(np.bool_, copy=False)), frozen(np.arange(n_queries, dtype=np.int64))
    per_query = isinstance(allow, (list, tuple)) and not all(isinstance(i, (int, np.integer)) for i in allow)
    if not per_query:
        return frozen(_mask_of(allow, n_docs, "allow")[None, :]), frozen(np.zeros(n_queries, np.int64))
    entries: Sequence[Any] = allow  # type: ignore[assignment]
    if len(entries) != n_queries:
        raise ValueError(f"allow has {len(entries)} entries for {n_queries} queries; give one a query")
    masks: list[Mask] = []
    for query, entry in enumerate(entries):
        if entry is not None:
            rows[query] = len(masks)
            masks.append(_mask_of(entry, n_docs, f"allow[{query}]"))
    return frozen(np.array(masks, np.bool_).reshape(len(masks), n_docs)), frozen(rows)
