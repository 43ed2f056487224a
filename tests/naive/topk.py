"""Top-k by sorting everything: the tie rule in one line."""

from __future__ import annotations

from collections.abc import Sequence


def top_k(scores: Sequence[float], k: int, docs: Sequence[int] | None = None) -> list[tuple[int, float]]:
    """The k best (document, score) pairs: score descending, then ascending document index."""
    pairs = zip(docs if docs is not None else range(len(scores)), scores, strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]
