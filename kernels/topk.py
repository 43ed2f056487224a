"""Top-k selection with the one tie rule: score descending, then ascending document index.

The k best so far form a binary heap in two parallel arrays, the worst of them at the root. Because the order is total
(no two documents are equal in it), the k best are the same whatever the order in which documents arrive.

Scores must not be NaN: callers reject NaN where it enters.
"""

from __future__ import annotations

from typing import Any

from zerda_bench.kernels.jit import kernel

__all__ = ["push", "ranks_below", "sort"]


@kernel
def ranks_below(score_a: float, doc_a: int, score_b: float, doc_b: int) -> bool:
    """Whether document a stands after document b: the tie rule, in this one place."""
    return score_a < score_b or (score_a == score_b and doc_a > doc_b)


@kernel
def _sift_down(docs: Any, scores: Any, size: int, score: float, doc: int) -> None:
    """Let (score, doc) take the root's place and sink until no child ranks below it."""
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and ranks_below(scores[child + 1], docs[child + 1], scores[child], docs[child]):
            child += 1
        if not ranks_below(scores[child], docs[child], score, doc):
            break
        scores[hole] = scores[child]
        docs[hole] = docs[child]
        hole = child
    scores[hole] = score
    docs[hole] = doc


@kernel
def push(docs: Any, scores: Any, size: int, score: float, doc: int) -> int:
    """Offer a document to the heap ``docs[:size], scores[:size]`` of capacity ``len(docs)``; return the new size."""
    capacity = docs.shape[0]
    if size < capacity:
        hole = size
        while hole > 0:
            parent = (hole - 1) // 2
            if not ranks_below(score, doc, scores[parent], docs[parent]):
                break
            scores[hole] = scores[parent]
            docs[hole] = docs[parent]
            hole = parent
        scores[hole] = score
        docs[hole] = doc
        return size + 1
    if capacity > 0 and ranks_below(scores[0], docs[0], score, doc):
        _sift_down(docs, scores, size, score, doc)
    return size


@kernel
def sort(docs: Any, scores: Any, size: int) -> None:
    """Turn the heap ``docs[:size], scores[:size]`` into rank order, in place (heapsort: the worst goes last)."""
    for last in range(size - 1, 0, -1):
        score, doc = scores[last], docs[last]
        scores[last], docs[last] = scores[0], docs[0]
        _sift_down(docs, scores, last, score, doc)
