"""kernels/topk.py against sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import topk as naive
from zerda_bench.kernels import topk

# Few distinct values make ties; the wide range brings huge, tiny, subnormal and infinite scores.
TIED = st.sampled_from([0.0, 1.0, -1.0, 0.5, 5e-324, np.inf, -np.inf])
SCORES = st.lists(TIED | st.floats(allow_nan=False), max_size=80)


def run(scores: list[float], k: int, arrival: list[int] | None = None) -> list[tuple[int, float]]:
    docs, best = np.full(k, -1, np.int64), np.full(k, -np.inf)
    size = 0
    for doc in range(len(scores)) if arrival is None else arrival:
        size = topk.push(docs, best, size, scores[doc], doc)
    topk.sort(docs, best, size)
    return list(zip(docs[:size].tolist(), best[:size].tolist(), strict=True))


@given(SCORES, st.integers(0, 90))
def test_equals_sorting(scores: list[float], k: int) -> None:
    assert run(scores, k) == naive.top_k(scores, k)


@given(SCORES, st.integers(0, 40), st.integers(0, 40))
def test_smaller_k_is_a_prefix(scores: list[float], k: int, more: int) -> None:
    assert run(scores, k) == run(scores, k + more)[:k]


@given(st.lists(TIED, max_size=40), st.integers(1, 40), st.randoms(use_true_random=False))
def test_order_of_arrival_does_not_matter(scores: list[float], k: int, random) -> None:
    arrival = list(range(len(scores)))
    random.shuffle(arrival)
    assert run(scores, k, arrival) == naive.top_k(scores, k)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_equal_scores_keep_index_order(k: int) -> None:
    assert [doc for doc, _ in run([7.0] * 5, k)] == list(range(k))
