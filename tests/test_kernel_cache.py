"""The machine-code cache: never stale, safe from a cold start in many processes, no global setting changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import zerda_bench
from zerda_bench.kernels import jit

PACKAGE = Path(zerda_bench.__file__).parent

SEARCH = """
import numpy as np
from zerda_bench.sparse import BM25Index
print(BM25Index.from_texts(["fox", "dog fox", "fox"]).search("fox", 2).row(0)[0].tolist())
"""


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """A copy of the package with the links resolved, as a wheel would install it."""
    shutil.copytree(
        PACKAGE, tmp_path / "site" / "zerda_bench", ignore=shutil.ignore_patterns("__pycache__"), symlinks=False
    )
    return tmp_path / "site"


def run(code: str, site: Path, **environment: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    env |= {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", **environment}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=site, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_an_edited_callee_in_another_file_is_compiled_anew(package_copy: Path, tmp_path: Path) -> None:
    """`bm25.search`, the function that is called and cached, stays as it is; its callee in topk.py changes."""
    cache = str(tmp_path / "cache")
    assert run(SEARCH, package_copy, NUMBA_CACHE_DIR=cache) == "[0, 2]"
    callee = package_copy / "zerda_bench" / "kernels" / "topk.py"
    text = callee.read_text(encoding="utf-8")
    assert text.count("return size + 1") == 1
    callee.write_text(text.replace("return size + 1", "return size + 0"), encoding="utf-8")
    assert run(SEARCH, package_copy, NUMBA_CACHE_DIR=cache) == "[]"
    callee.write_text(text, encoding="utf-8")
    assert run(SEARCH, package_copy, NUMBA_CACHE_DIR=cache) == "[0, 2]"
    digests = [d for d in Path(cache).iterdir() if d.is_dir()]
    assert len(digests) == 2


def test_a_second_process_loads_instead_of_compiling(package_copy: Path, tmp_path: Path) -> None:
    code = SEARCH + "from zerda_bench.kernels import bm25; print(dict(bm25.search.stats.cache_hits) != {})"
    cache = str(tmp_path / "cache")
    assert run(code, package_copy, NUMBA_CACHE_DIR=cache).splitlines()[-1] == "False"
    assert run(code, package_copy, NUMBA_CACHE_DIR=cache).splitlines()[-1] == "True"


def test_eight_processes_starting_cold_at_once_agree(package_copy: Path, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    env |= {"PYTHONPATH": str(package_copy), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SEARCH], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for process in started:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert out.strip() == "[0, 2]"


def test_read_only_package_without_a_home_works_without_a_cache(package_copy: Path) -> None:
    """No folder can be written: kernels still compile, uncached. Root ignores permission bits, so the probe is told."""
    code = (
        "import pathlib, tempfile\n"
        "real = tempfile.TemporaryFile\n"
        "def denied(*a, dir=None, **k): raise PermissionError(13, 'read-only', str(dir))\n"
        "tempfile.TemporaryFile = denied\n"
        "import zerda_bench.kernels as k\n"
        "tempfile.TemporaryFile = real\n"
        "assert k.CACHE_DIRECTORY is None, k.CACHE_DIRECTORY\n"
    )
    assert run(code + SEARCH, package_copy) == "[0, 2]"
    assert not list(package_copy.rglob("*.nbc"))


def test_unwritable_cache_falls_back_to_the_users_folder(package_copy: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder is wanted", encoding="utf-8")
    code = "import zerda_bench.kernels as k; print(k.CACHE_DIRECTORY)"
    environment = {
        "NUMBA_CACHE_DIR": str(blocked),
        "XDG_CACHE_HOME": str(tmp_path / "user"),
        "LOCALAPPDATA": str(tmp_path / "user"),
    }
    if sys.platform == "darwin":
        environment["HOME"] = str(tmp_path / "user")
    assert run(code, package_copy, **environment).startswith(str(tmp_path / "user"))


def test_importing_changes_no_numba_setting(package_copy: Path) -> None:
    code = (
        "import numba\n"
        "settings = lambda: {n: getattr(numba.config, n) for n in dir(numba.config) if n.isupper()}\n"
        "before = settings(), numba.get_num_threads()\n"
        "import zerda_bench.kernels\n"
        "print(before == (settings(), numba.get_num_threads()))"
    )
    assert run(code, package_copy) == "True"


def test_the_setting_is_restored_after_an_error(tmp_path: Path) -> None:
    before = numba.config.CACHE_DIR

    def fail_inside() -> None:
        with jit.kernel_cache(tmp_path):
            assert before != numba.config.CACHE_DIR
            raise RuntimeError("while importing")

    with pytest.raises(RuntimeError, match="while importing"):
        fail_inside()
    after = numba.config.CACHE_DIR
    assert after == before


def test_old_digests_are_pruned_and_the_current_one_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    package = tmp_path / "kernels"
    package.mkdir()
    (tmp_path / "cache" / "somebody-elses").mkdir(parents=True)
    seen = []
    for version in range(8):
        (package / "a.py").write_text(f"x = {version}", encoding="utf-8")
        with jit.kernel_cache(package) as directory:
            seen.append(directory)
        os.utime(directory, (version, version))
    assert seen[-1].is_dir()
    assert not seen[0].exists()
    assert (tmp_path / "cache" / "somebody-elses").is_dir()


def test_importing_compiles_nothing(package_copy: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run("import zerda_bench.kernels", package_copy, NUMBA_CACHE_DIR=str(cache))
    assert not list(cache.rglob("*.nb?"))
