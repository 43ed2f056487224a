"""How files reach the disk: whole or not at all, and with the same bytes every time."""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cache_folder", "gzip_replacing", "replacing", "write_bytes", "write_npy", "write_text"]

_GZIP_LEVEL = 6


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the place of `path` when the block ends, and not before.

    The bytes go to a temporary name in the same folder, reach the disk (fsync), and the name is switched (os.replace),
    so a reader sees the old file or the new one, and a crash leaves the old one. When the block raises, `path` is
    untouched and the temporary file is gone. Parent folders are made.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        # "x" as mkstemp does, but with the permissions any new file of this user has.
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut; some systems cannot open a folder, and then there is nothing to do."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def gzip_replacing(path: str | os.PathLike[str]) -> Iterator[gzip.GzipFile]:
    """Like `replacing`, compressed. Header without name and time: equal content is equal bytes (for one zlib)."""
    with (
        replacing(path) as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0) as stream,
    ):
        yield stream


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` as the whole of `path`, atomically; compressed where the name ends in ``.gz``."""
    if os.fspath(path).endswith(".gz"):
        with gzip_replacing(path) as compressed:
            compressed.write(data)
    else:
        with replacing(path) as stream:
            stream.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 with the line ends it has, atomically; compressed where the name ends in ``.gz``."""
    write_bytes(path, text.encode("utf-8"))


def write_npy(path: str | os.PathLike[str], array: NDArray[Any]) -> None:
    """Write `array` in NumPy's format (never pickled), atomically."""
    with replacing(path) as stream:
        np.save(stream, array, allow_pickle=False)


def cache_folder() -> Path | None:
    """Folder for what can be computed again: ``$ZERDA_BENCH_CACHE``, or the user's cache by the platform's custom.

    None where there is no home folder to put it in. The folder may not exist yet.
    """
    configured = os.environ.get("ZERDA_BENCH_CACHE")
    if configured:
        return Path(configured).expanduser()
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "zerda-bench"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "zerda-bench"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "zerda-bench"
