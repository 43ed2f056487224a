"""Random corpora, configurations and filters on zerda_bench and on the installed zerda 0.1.0, side by side.

Equal scores within 2e-6 relative, equal order wherever scores differ by more. Inputs of the kinds that ours mends
(duplicate texts, NaN) are not drawn.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import zerda_bench

zerda = pytest.importorskip("zerda.context", reason="the package zerda is not installed")

ENGLISH = "fox dog search engine the of ranking vector hybrid keyword data learning capital Egypt BM25 fast".split()  # noqa: SIM905
ARABIC = "القاهرة عاصمة مصر اللغة العربية البحث كتاب، مُحَمَّد الذكاء نموذج بيانات هل؟ خوارزمية باريس ٢٠٢٤".split()  # noqa: SIM905
VOCABULARIES = {"english": ENGLISH, "arabic": ARABIC, "mixed": ENGLISH + ARABIC}
DIM = 12
TOLERANCE = 2e-6


@dataclass
class Chunk:
    text: str
    doc_id: str
    metadata: Any = field(default_factory=dict)


@dataclass
class Meta:
    lang: str
    page: int


def embed(text: str) -> np.ndarray:
    """A hashed bag of words with a direction of its own for each text: similarities are distinct."""
    seed = sum(ord(c) * (i + 1) for i, c in enumerate(text)) % (2**32)
    vector = np.random.default_rng(seed).standard_normal(DIM) * 0.3 + 0.2
    for word in text.split():
        vector[sum(map(ord, word)) % DIM] += 1.0
    return vector


def corpus(rng: random.Random, words: list[str]) -> list[Chunk]:
    texts = {" ".join(rng.choices(words, k=rng.randint(1, 14))).lower(): None for _ in range(rng.randint(1, 40))}
    chunks = []
    for i, text in enumerate(texts):
        lang, page = rng.choice(["en", "ar"]), rng.randint(0, 2)
        metadata: Any = {"lang": lang, "page": page} if rng.random() < 0.7 else Meta(lang, page)
        chunks.append(Chunk(text, f"d{i}", metadata))
    return chunks


def settings(rng: random.Random) -> dict[str, Any]:
    return {
        "top_k": rng.randint(1, 12),
        "vector_weight": rng.choice([0.6, 0.0, 1.0, 2.5]),
        "keyword_weight": rng.choice([0.3, 0.7, 1.0]),
        "metadata_weight": rng.choice([0.1, 0.4]),
        "use_vector": rng.random() < 0.85,
        "use_keyword": rng.random() < 0.85,
        "use_metadata": rng.random() < 0.5,
        "min_vector_score": rng.choice([0.0, -1.0, 0.5]),
    }


def filters(rng: random.Random) -> dict[str, Any] | None:
    return rng.choice([None, {}, {"lang": "ar"}, {"page": [0, 2]}, {"lang": "en", "page": 1}, {"absent": 1}])


def assert_same(got: list[Any], ref: list[Any], attribute: str) -> None:
    """Same chunks in the same order, except where neighbours' scores differ by less than the tolerance."""
    assert len(got) == len(ref)
    for a, b in zip(got, ref, strict=True):
        x, y = getattr(a, attribute), getattr(b, attribute)
        assert x == pytest.approx(y, rel=TOLERANCE, abs=1e-12)
        if a.chunk is not b.chunk:
            other = next(getattr(c, attribute) for c in ref if c.chunk is a.chunk)
            assert other == pytest.approx(y, rel=TOLERANCE, abs=1e-12)


@pytest.mark.parametrize("language", VOCABULARIES)
@pytest.mark.parametrize("seed", range(40))
def test_every_retriever_agrees(language: str, seed: int) -> None:
    rng = random.Random(f"{language} {seed}")
    words = VOCABULARIES[language]
    chunks = corpus(rng, words)
    embeddings = [embed(chunk.text) for chunk in chunks]
    values = settings(rng)
    k1, b = rng.choice([1.5, 0.9, 2.0]), rng.choice([0.0, 0.4, 0.75, 1.0])

    scorers, legs, hybrids = [], [], []
    for package in (zerda_bench, zerda):
        scorer = package.BM25Scorer(k1=k1, b=b)
        scorer.index([chunk.text for chunk in chunks])
        scorers.append(scorer)
        config = package.ContextEngineConfig(retriever=package.RetrieverConfig(**values))
        vector = package.VectorRetriever(config, chunks, embeddings, embed)
        keyword = package.KeywordRetriever(config, chunks)
        metadata = package.MetadataRetriever(config, chunks)
        legs.append((vector, keyword, metadata))
        hybrids.append(package.HybridRetriever(config, vector, keyword, metadata))

    for _ in range(6):
        query = " ".join(rng.choices([*words, "unknown"], k=rng.randint(0, 6)))
        condition, k = filters(rng), rng.choice([1, 3, 10, 100])
        got, ref = scorers[0].score(query, k), scorers[1].score(query, k)
        assert [doc for doc, _ in got] == [doc for doc, _ in ref]
        assert [score for _, score in got] == pytest.approx([score for _, score in ref], rel=TOLERANCE)
        for ours, theirs in zip(*legs, strict=True):
            assert_same(ours.retrieve(query, k, condition), theirs.retrieve(query, k, condition), "composite_score")
        for top_k in (None, k):
            ours = hybrids[0].retrieve(query, top_k, condition)
            theirs = hybrids[1].retrieve(query, top_k, condition)
            assert_same(ours, theirs, "composite_score")


def test_a_config_of_the_real_package_works() -> None:
    config = zerda.ContextEngineConfig()
    chunks = [Chunk("fox dog", "a"), Chunk("cat", "b")]
    hybrid = zerda_bench.HybridRetriever(config, None, zerda_bench.KeywordRetriever(config, chunks))
    assert [sc.doc_id for sc in hybrid.retrieve("fox")] == ["a", "b"]
