"""Files appear whole or not at all, and equal content is equal bytes."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zerda_bench.eval import storage


def test_a_file_is_written_whole_into_new_folders(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.json"
    storage.write_text(path, "نص\r\nb\n")
    assert path.read_bytes() == "نص\r\nb\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a"
    storage.write_bytes(path, b"old")
    with storage.replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("opener", [storage.replacing, storage.gzip_replacing])
def test_an_error_leaves_the_old_file_and_no_other(tmp_path: Path, opener: Any) -> None:
    path = tmp_path / "a.gz"
    storage.write_bytes(path, b"old")
    before = path.read_bytes()

    def interrupted() -> None:
        with opener(path) as stream:  # type: ignore[operator]
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits there")
def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    storage.write_bytes(tmp_path / "ours", b"")
    (tmp_path / "theirs").write_bytes(b"")
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("ours", "theirs")]
    assert modes[0] == modes[1]


def test_gzip_bytes_depend_on_the_content_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.write_text(tmp_path / "one.gz", "content")
    later = time.time() + 1e6
    monkeypatch.setattr(time, "time", lambda: later)
    with storage.gzip_replacing(tmp_path / "two.run.gz") as stream:
        stream.write(b"con")
        stream.write(b"tent")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.run.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == b"content"


def test_npy_round_trips(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    storage.write_npy(tmp_path / "a.npy", array)
    got = np.load(tmp_path / "a.npy", allow_pickle=False)
    assert got.dtype == np.float32
    assert np.array_equal(got, array)


def test_the_cache_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZERDA_BENCH_CACHE", str(tmp_path))
    assert storage.cache_folder() == tmp_path


def test_the_cache_folder_is_the_users_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZERDA_BENCH_CACHE", raising=False)
    folder = storage.cache_folder()
    assert folder is not None
    assert folder.name == "zerda-bench"


def test_without_a_home_there_is_no_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ZERDA_BENCH_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert storage.cache_folder() is None
