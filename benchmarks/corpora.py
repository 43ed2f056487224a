"""Corpora for the benchmarks: seeded synthetic ones, and real text where it is at hand.

Synthetic documents have about 56 tokens of a vocabulary whose frequencies follow Zipf's law, each document leaning to
one of 64 topics, so that terms occur together as they do in text.
"""

from __future__ import annotations

import gzip
import json
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["keyword_queries", "real_texts", "synthetic_tokens", "unit_mixture"]

_VOCABULARY = 50_000
_TOPICS = 64


@lru_cache(maxsize=2)
def synthetic_tokens(n_docs: int, seed: int = 0) -> list[list[str]]:
    """Token lists of `n_docs` documents; the same for the same arguments on every machine."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(56, n_docs)
    ranks = rng.zipf(1.15, lengths.sum()).clip(max=_VOCABULARY) - 1
    # A third of the tokens move to the band of the vocabulary that the document's topic owns.
    topics = np.repeat(rng.integers(0, _TOPICS, n_docs), lengths)
    moved = rng.random(len(ranks)) < 1 / 3
    ranks[moved] = 1000 + topics[moved] * 700 + ranks[moved] % 700
    words = [f"w{rank}" for rank in ranks.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [words[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def keyword_queries(documents: list[list[str]], n_queries: int, n_terms: int, seed: int = 1) -> list[str]:
    """Queries of `n_terms` words, each drawn from one document: every query has an answer."""
    rng = np.random.default_rng(seed)
    sources = rng.integers(0, len(documents), n_queries)
    return [" ".join(rng.choice(documents[source] or ["w0"], n_terms)) for source in sources]


@lru_cache(maxsize=2)
def unit_mixture(n_vectors: int, dim: int, seed: int = 0) -> NDArray[np.float32]:
    """A mixture of 32 anisotropic Gaussians ``float32[n_vectors, dim]``."""
    rng = np.random.default_rng(seed)
    scales = rng.gamma(1.0, 1.0, dim).astype(np.float32)
    centres = rng.standard_normal((32, dim), np.float32) * scales
    noise = rng.standard_normal((n_vectors, dim), np.float32) * scales
    return centres[rng.integers(0, 32, n_vectors)] + noise


@lru_cache(maxsize=2)
def real_texts(name: str) -> list[str]:
    """Documents of a collection in BEIR layout below $ZERDA_SHARED (default ../shared), or raise for asv to skip."""
    shared = Path(os.environ.get("ZERDA_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = shared / "data" / "collections" / name / "corpus.jsonl.gz"
    if not path.is_file():
        raise NotImplementedError(f"collection {name} is absent")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [f"{doc.get('title', '')} {doc['text']}".strip() for doc in map(json.loads, lines)]
