"""Latent semantic analysis by a dense float64 SVD of the whole matrix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def tfidf(texts: Sequence[Sequence[str]], documents: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    column = {term: j for j, term in enumerate(sorted({term for tokens in documents for term in tokens}))}
    df = Counter(term for tokens in documents for term in set(tokens))
    rows = np.zeros((len(texts), len(column)))
    for i, tokens in enumerate(texts):
        for term, tf in Counter(tokens).items():
            if term in column:
                idf = 1 + math.log((1 + len(documents)) / (1 + df[term]))
                rows[i, column[term]] = (1 + math.log(tf)) * idf
        length = np.linalg.norm(rows[i])
        if length:
            rows[i] /= length
    return rows


def vectors(texts: Sequence[Sequence[str]], documents: Sequence[Sequence[str]], dim: int) -> NDArray[np.float64]:
    _, values, right = np.linalg.svd(tfidf(documents, documents), full_matrices=False)
    kept = right[:dim][values[:dim] > 1e-5 * values[0]]
    return tfidf(texts, documents) @ kept.T
