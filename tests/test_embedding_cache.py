"""Embeddings on disk: found by content, never trusted blindly, safe between processes."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from zerda_bench.eval.embedders import Embedder, Progress, embed_cached, get_embedder
from zerda_bench.eval.embedders.cache import Embedded

TEXTS = ["red fox", "الثعلب", "", "lone \ud800 surrogate"]


class Counting(Embedder):
    """Counts how often it had to work."""

    def __init__(self, name: str = "counting", version: str = "1", fitted: bool = False) -> None:
        self.name = name
        self._version = version
        self.fitted = fitted
        self.calls = 0

    @property
    def version(self) -> str:
        return self._version

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> NDArray[np.float32]:
        self.calls += 1
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def embed(
    embedder: Embedder, folder: Path, texts: Sequence[str] = TEXTS, corpus_hash: str = "of the documents"
) -> Embedded:
    return embed_cached(embedder, texts, corpus_hash=corpus_hash, cache_dir=folder)


def test_the_second_time_comes_from_disk(tmp_path: Path) -> None:
    embedder = Counting()
    first, second = embed(embedder, tmp_path), embed(embedder, tmp_path)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert embedder.calls == 1
    assert second.vectors.dtype == np.float32
    assert np.array_equal(first.vectors, second.vectors)
    assert first.seconds >= 0
    assert len(list(tmp_path.rglob("*.*"))) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda folder: embed(Counting(name="another"), folder),
        lambda folder: embed(Counting(version="2"), folder),
        lambda folder: embed(Counting(), folder, TEXTS[::-1]),
        lambda folder: embed(Counting(), folder, TEXTS[:-1]),
        lambda folder: embed(Counting(), folder, ["red foxا", "لثعلب", *TEXTS[2:]]),
        lambda folder: embed(Counting(), folder, ["red", " fox", "الثعلب", "lone \ud800 surrogate"]),
    ],
)
def test_what_may_change_a_vector_is_part_of_the_key(tmp_path: Path, other: Callable[[Path], Embedded]) -> None:
    embed(Counting(), tmp_path)
    assert not other(tmp_path).from_cache


def test_the_fitted_documents_count_for_embedders_that_are_fitted_only(tmp_path: Path) -> None:
    for fitted in (False, True):
        embed(Counting(fitted=fitted), tmp_path, corpus_hash="one")
        assert embed(Counting(fitted=fitted), tmp_path, corpus_hash="one").from_cache
        assert embed(Counting(fitted=fitted), tmp_path, corpus_hash="two").from_cache is not fitted


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-3]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"not an array at all"),
        lambda path: path.write_bytes(b"PK\x03\x04 neither is this"),
        lambda path: np.save(path, np.zeros((3, 2), np.float32)),
        lambda path: np.save(path, np.zeros((4, 2), np.float64)),
        lambda path: np.save(path, np.zeros(4, np.float32)),
        lambda path: np.save(path, np.full((4, 2), np.nan, np.float32)),
        lambda path: np.save(path, np.array([{}, {}, {}, {}]), allow_pickle=True),
    ],
)
def test_a_damaged_file_is_computed_anew(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    ref = embed(Counting(), tmp_path)
    (file,) = tmp_path.rglob("*.npy")
    damage(file)
    with caplog.at_level(logging.WARNING, logger="zerda_bench"):
        got = embed(Counting(), tmp_path)
    assert not got.from_cache
    assert np.array_equal(got.vectors, ref.vectors)
    assert "anew" in caplog.text
    assert embed(Counting(), tmp_path).from_cache


def test_a_folder_that_cannot_be_written_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    with caplog.at_level(logging.WARNING, logger="zerda_bench"):
        got = embed(Counting(), tmp_path / "file")
    assert got.vectors.shape == (4, 2)
    assert "not cached" in caplog.text


def test_no_texts_leave_no_file(tmp_path: Path) -> None:
    assert get_embedder("lsa").name == "lsa"
    assert not embed(Counting(), tmp_path, []).from_cache
    assert list(tmp_path.iterdir()) == []


def test_the_default_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZERDA_BENCH_CACHE", str(tmp_path))
    embed_cached(Counting(), TEXTS, corpus_hash="")
    assert len(list((tmp_path / "embeddings").glob("counting-*.npy"))) == 1


def test_fitting_is_not_done_for_what_is_on_disk(tmp_path: Path) -> None:
    documents = ["red fox", "blue fox", "red dog"]
    embedder = get_embedder("lsa(dim=2)")
    embedder.fit(documents)
    ref = embed(embedder, tmp_path, documents)

    def never(text: str) -> list[str]:
        raise AssertionError(f"tokenised {text!r}")

    again = get_embedder("lsa(dim=2)")
    never.name, never.version = "zerda", again._analyzer.version  # type: ignore[attr-defined]
    again._analyzer = never  # type: ignore[attr-defined]
    again.fit(documents)
    got = embed(again, tmp_path, documents)
    assert got.from_cache
    assert np.array_equal(got.vectors, ref.vectors)


def _embed_in(folder: str) -> bytes:
    return embed(Counting(), Path(folder), [f"text {i}" for i in range(20_000)]).vectors.tobytes()


def test_processes_can_share_a_folder(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, mp_context=spawn) as executor:
        answers = set(executor.map(_embed_in, [os.fspath(tmp_path)] * 12))
    assert len(answers) == 1
    assert [path.suffix for path in (tmp_path / "embeddings").iterdir()] == [".npy"]
