"""How every kernel is compiled: one decorator, one cache directory, no global setting left changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba

# Numba fills in its settings at run time; type checkers cannot see them.
config: Any = numba.config

__all__ = ["REASSOCIATE", "cache_directory", "kernel", "kernel_cache"]

#: LLVM may reorder sums (so a reduction can use vector lanes) but must keep NaN, infinity and signed zero.
REASSOCIATE = frozenset({"reassoc", "contract"})

# Digest folders kept beside the current one: enough for switching between a few commits.
_KEPT_DIGESTS = 4
_PREFIX = "zerda-bench-"

_cache_enabled = False


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first call in nopython mode, without the GIL, cached on disk where a folder can be written.

    Floating-point division by zero follows NumPy (inf or NaN), not Python (an exception), so that loops vectorise.
    """
    return numba.njit(function, cache=_cache_enabled, nogil=True, error_model="numpy")


def source_digest(folder: Path) -> str:
    """Digest of every kernel source, of Numba and of the interpreter.

    Numba stamps cached machine code with the file of the outermost function only: after a change in a callee or an
    imported constant it would run the old code. A folder named by this digest can hold no such code.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.implementation.cache_tag}".encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(f"\0{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _user_cache() -> Path | None:
    """The user's cache folder by the platform's custom, or None where there is no home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def _writable(folder: Path) -> bool:
    """Whether a file can really be made in `folder` (permission bits lie for root and on read-only mounts)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_directory(package: Path) -> Path | None:
    """First writable of: NUMBA_CACHE_DIR where set, else beside the sources; the user's cache; or None (no cache)."""
    name = _PREFIX + source_digest(package)
    configured = config.CACHE_DIR
    bases = [Path(configured) if configured else package / "__pycache__"]
    user = _user_cache()
    if user is not None:
        bases.append(user / "zerda-bench" / "numba")
    return next((base / name for base in bases if _writable(base / name)), None)


def _prune(current: Path) -> None:
    """Drop the digest folders used longest ago. Numba makes a folder again when a process still writes into it."""
    with contextlib.suppress(OSError):
        os.utime(current)
        others = [d for d in current.parent.glob(_PREFIX + "*") if d != current and d.is_dir()]
        others.sort(key=lambda d: d.stat().st_mtime, reverse=True)
        for stale in others[_KEPT_DIGESTS:]:
            shutil.rmtree(stale, ignore_errors=True)


@contextlib.contextmanager
def kernel_cache(package: Path) -> Iterator[Path | None]:
    """While open, functions decorated with `kernel` cache under the digest of `package`; then all is as before."""
    global _cache_enabled
    directory = cache_directory(package)
    before = config.CACHE_DIR
    _cache_enabled = directory is not None
    if directory is not None:
        config.CACHE_DIR = str(directory)
        _prune(directory)
    try:
        yield directory
    finally:
        config.CACHE_DIR = before
        _cache_enabled = False
