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
# A cosine near 0 is a sum that cancels: float32 arithmetic, on either side, leaves an absolute error there.
ABSOLUTE = {np.float64: 1e-12, np.float32: 2e-7}


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
        "min_vector_score": rng.choice([0.0, -1.0, 0.5, float("-inf")]),
    }


def filters(rng: random.Random) -> dict[str, Any] | None:
    return rng.choice([None, {}, {"lang": "ar"}, {"page": [0, 2]}, {"lang": "en", "page": 1}, {"absent": 1}])


def assert_same(got: list[Any], ref: list[Any], absolute: float) -> None:
    """Same scores at every rank, and the same keys, except among scores that differ by less than the tolerance.

    Both are lists of (key, score). Ties may swap, also across the cut: a key that only one side has must tie with the
    last of the other.
    """

    def close(x: float, y: float) -> bool:
        return x == pytest.approx(y, rel=TOLERANCE, abs=absolute)

    assert len(got) == len(ref)
    scores = dict(ref)
    for (ours, x), (theirs, y) in zip(got, ref, strict=True):
        assert close(x, y)
        if ours != theirs:
            assert close(x, scores.get(ours, ref[-1][1]))


def keys(results: list[Any]) -> list[int]:
    return [id(result.chunk) for result in results]


def pairs(results: list[Any]) -> list[tuple[int, float]]:
    return [(id(result.chunk), result.composite_score) for result in results]


def assert_same_results(got: list[Any], ref: list[Any], absolute: float) -> None:
    """As `assert_same`; also all that the results say of the chunks that both have."""
    assert_same(pairs(got), pairs(ref), absolute)
    by_chunk = {id(result.chunk): result for result in ref}
    for result in got:
        other = by_chunk.get(id(result.chunk))
        if other is not None:
            assert result.retrieval_method.value == other.retrieval_method.value
            assert result.retrieval_rank == other.retrieval_rank
            for name in ("vector_score", "keyword_score", "metadata_score"):
                assert getattr(result, name) == pytest.approx(getattr(other, name), rel=TOLERANCE, abs=absolute)


@pytest.mark.parametrize("language", VOCABULARIES)
@pytest.mark.parametrize("seed", range(40))
def test_every_retriever_agrees(language: str, seed: int) -> None:
    rng = random.Random(f"{language} {seed}")
    words = VOCABULARIES[language]
    chunks = corpus(rng, words)
    dtype = rng.choice([np.float64, np.float32])
    absolute = ABSOLUTE[dtype]
    embeddings = [embed(chunk.text).astype(dtype) for chunk in chunks]
    values = settings(rng)
    k1, b = rng.choice([1.5, 0.9, 2.0]), rng.choice([0.0, 0.4, 0.75, 1.0])

    scorers, legs, configs = [], [], []
    for package in (zerda_bench, zerda):
        scorer = package.BM25Scorer(k1=k1, b=b)
        scorer.index([chunk.text for chunk in chunks])
        scorers.append(scorer)
        config = package.ContextEngineConfig(retriever=package.RetrieverConfig(**values))
        configs.append(config)
        vector = package.VectorRetriever(config, chunks, embeddings, embed)
        keyword = package.KeywordRetriever(config, chunks)
        legs.append((vector, keyword, package.MetadataRetriever(config, chunks)))
    ours = zerda_bench.HybridRetriever(configs[0], *legs[0])
    theirs = zerda.HybridRetriever(configs[1], *legs[1])
    their_fusion_of_ours = zerda.HybridRetriever(configs[1], *legs[0])

    for _ in range(6):
        query = " ".join(rng.choices([*words, "unknown"], k=rng.randint(0, 6)))
        condition, k = filters(rng), rng.choice([1, 3, 10, 100, 0, -1, -4])
        assert_same(scorers[0].score(query, k), scorers[1].score(query, k), 1e-12)
        for got, ref in zip(*legs, strict=True):
            assert_same(pairs(got.retrieve(query, k, condition)), pairs(ref.retrieve(query, k, condition)), absolute)
        for top_k in (None, k):
            got = ours.retrieve(query, top_k, condition)
            assert_same_results(got, their_fusion_of_ours.retrieve(query, top_k, condition), 1e-12)
            # The bonus counts ranks, so a tie that swaps within a leg shows in the fused scores.
            depth = 2 * (top_k or values["top_k"])
            if all(
                keys(a.retrieve(query, depth)) == keys(b.retrieve(query, depth)) for a, b in zip(*legs, strict=True)
            ):
                assert_same_results(got, theirs.retrieve(query, top_k, condition), absolute)


def test_a_config_of_the_real_package_works() -> None:
    config = zerda.ContextEngineConfig()
    chunks = [Chunk("fox dog", "a"), Chunk("cat", "b")]
    hybrid = zerda_bench.HybridRetriever(config, None, zerda_bench.KeywordRetriever(config, chunks))
    assert [sc.doc_id for sc in hybrid.retrieve("fox")] == ["a", "b"]
