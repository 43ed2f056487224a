"""Latent semantic analysis by a dense float64 SVD of the whole matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def tfidf(texts: Sequence[Sequence[str]], documents: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    terms = sorted({term for tokens in documents for term in tokens})
    rows = np.zeros((len(texts), len(terms)))
    for i, tokens in enumerate(texts):
        for j, term in enumerate(terms):
            tf = list(tokens).count(term)
            df = sum(term in d for d in documents)
            if tf:
                rows[i, j] = (1 + math.log(tf)) * (1 + math.log((1 + len(documents)) / (1 + df)))
        length = np.linalg.norm(rows[i])
        if length:
            rows[i] /= length
    return rows


def vectors(texts: Sequence[Sequence[str]], documents: Sequence[Sequence[str]], dim: int) -> NDArray[np.float64]:
    _, values, right = np.linalg.svd(tfidf(documents, documents), full_matrices=False)
    kept = right[:dim][values[:dim] > 1e-5 * values[0]]
    return tfidf(texts, documents) @ kept.T
