"""Packaging: the list of packages equals the tree, the links are right, importing is cheap."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

PYPROJECT = CHECKOUT / "pyproject.toml"
pytestmark = pytest.mark.skipif(not PYPROJECT.is_file(), reason="runs in a checkout only")


def tree_packages() -> set[str]:
    """Every folder with an __init__.py, under the name by which it installs."""
    found = set()
    for top, name in (("zerda_bench", "zerda_bench"), ("kernels", "zerda_bench.kernels"), ("eval", "zerda_bench.eval")):
        for init in (CHECKOUT / top).glob("**/__init__.py"):
            parts = init.parent.relative_to(CHECKOUT / top).parts
            if top == "zerda_bench" and parts[:1] in {("kernels",), ("eval",)}:
                continue  # the links: their targets are listed by themselves
            found.add(".".join((name, *parts)))
    return found


def test_listed_packages_equal_the_tree() -> None:
    listed = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(tree_packages())


@pytest.mark.parametrize("name", ["kernels", "eval"])
def test_links_point_at_the_top_level_folders(name: str) -> None:
    link = CHECKOUT / "zerda_bench" / name
    assert link.is_symlink()
    assert Path(link.readlink()) == Path("..") / name


@pytest.mark.parametrize(
    "module", ["numba", "numpy", "scipy", "pandas", "ir_datasets", "ir_measures", "rich", "typer", "Stemmer"]
)
def test_importing_the_package_is_cheap(module: str) -> None:
    code = f"import sys, zerda_bench; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_changes_no_global_state() -> None:
    code = (
        "import logging, warnings, random\n"
        "import numba, numpy, scipy, Stemmer\n"  # NumPy adds warning filters of its own when imported
        "state = lambda: (logging.root.handlers[:], logging.root.level, warnings.filters[:], random.getstate())\n"
        "before = state()\n"
        "import zerda_bench\n"
        "[getattr(zerda_bench, name) for name in zerda_bench.__all__]\n"
        "assert state() == before\n"
        "assert not logging.getLogger('zerda_bench').handlers\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_everything_in_all_exists() -> None:
    import zerda_bench

    for name in zerda_bench.__all__:
        assert getattr(zerda_bench, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        zerda_bench.nonsense  # noqa: B018


def test_imports_point_one_way() -> None:
    """kernels know neither the library nor the harness; the library does not know the harness."""
    forbidden = {"kernels": ("zerda_bench.",), "zerda_bench": ("zerda_bench.eval",)}
    for folder, names in forbidden.items():
        for path in (CHECKOUT / folder).rglob("*.py"):
            if folder == "zerda_bench" and path.relative_to(CHECKOUT / folder).parts[0] in {"kernels", "eval"}:
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.lstrip().startswith(("from ", "import ")):
                    for name in names:
                        assert name not in line or (folder == "kernels" and "zerda_bench.kernels" in line), (path, line)
