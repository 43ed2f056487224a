"""Datasets of the ir_datasets catalogue, each in a process of its own: it reads its folder's name when imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace as Row

import pytest

from zerda_bench.eval.datasets import DatasetError
from zerda_bench.eval.datasets.irds import _judgments, _reason


def in_catalogue(home: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process whose ir_datasets keeps its files in `home`."""
    env = {**os.environ, "IR_DATASETS_HOME": str(home), "IR_DATASETS_TMP": str(home / "tmp")}
    head = "from zerda_bench.eval.datasets import load_dataset, DatasetError\n"
    return subprocess.run([sys.executable, "-c", head + code], env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def catalogue(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = shared / "data" / "ir_datasets_home"
    if not source.is_dir():
        pytest.skip("no ir_datasets files in the shared material")
    home = tmp_path_factory.mktemp("catalogue") / "home"
    shutil.copytree(source, home)
    for path in [home, *home.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return home


def test_ir_datasets_ids(catalogue: Path) -> None:
    code = (
        "for name in ('cranfield', 'vaswani', 'beir/scifact/test'):\n"
        "    d = load_dataset(name)\n"
        "    print(name, len(d.doc_ids), len(d.judged_queries()), sum(map(len, d.qrels.values())), d.language)\n"
    )
    done = in_catalogue(catalogue, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:3] == [
        "cranfield 1400 225 1837 en",
        "vaswani 11429 93 2083 en",
        "beir/scifact/test 5183 300 339 en",
    ]
    assert done.stderr == ""


def test_a_document_has_one_text_by_either_route(catalogue: Path, collections: Path) -> None:
    code = (
        f"a, b = load_dataset('beir/scifact/test'), load_dataset({str(collections / 'scifact')!r})\n"
        "print(a.doc_ids == b.doc_ids, a.texts == b.texts, a.qrels == b.qrels)\n"
        "text = load_dataset('cranfield').texts[0]\n"
        "print(text.count('experimental investigation of the aerodynamics'))\n"
    )
    assert in_catalogue(catalogue, code).stdout.split() == ["True", "True", "True", "1"]


def test_repeated_judgments_of_the_catalogue_are_counted_and_contradictions_refused() -> None:
    rows = [Row(query_id="q", doc_id="d", relevance=grade) for grade in (1, 1, 2)]
    assert _judgments("x", rows[:2]) == ({"q": {"d": 1}}, 1)
    with pytest.raises(DatasetError, match="x: query 'q' and document 'd' are judged 1 and 2"):
        _judgments("x", rows)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("beir/nfcorpus/test", ["beir/nfcorpus/test: could not be downloaded", "IR_DATASETS_HOME"]),
        ("beir/scifact", ["has no qrels; try beir/scifact/test, beir/scifact/train"]),
        ("trec-robust04", ["trec-robust04: could not be downloaded or read (FileNotFoundError"]),
        ("vaswanni", ["no such ir_datasets id", "vaswani"]),
    ],
)
def test_ids_that_cannot_be_had_say_why_in_one_line(catalogue: Path, name: str, expected: list[str]) -> None:
    code = f"try: load_dataset({name!r})\nexcept DatasetError as error: print(error)"
    done = in_catalogue(catalogue, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    for text in expected:
        assert text in done.stdout


def test_a_file_cut_short_is_no_smaller_collection(catalogue: Path, tmp_path: Path) -> None:
    shutil.copytree(catalogue / "vaswani", tmp_path / "vaswani")
    docs = tmp_path / "vaswani" / "docs.txt"
    docs.write_bytes(docs.read_bytes()[:400_000])
    done = in_catalogue(tmp_path, "try: load_dataset('vaswani')\nexcept DatasetError as error: print(error)")
    assert done.stdout.startswith("vaswani: holds 1702 docs where the catalogue says 11429"), done.stderr
    assert done.stdout.count("\n") == 1
    assert "IR_DATASETS_HOME" in done.stdout


def test_a_home_that_cannot_be_made_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code = "try: load_dataset('cranfield')\nexcept DatasetError as error: print(error)"
    done = in_catalogue(tmp_path / "file" / "home", code)
    assert done.stdout.startswith("cranfield: ir_datasets cannot make its folder"), done.stderr
    assert done.stdout.rstrip().endswith("set IR_DATASETS_HOME to one that can be written")


def test_the_reason_is_the_innermost_one() -> None:
    refused = OSError("refused\n by host")
    wrapped = ConnectionError(Row(reason=refused))
    assert _reason(wrapped) == "OSError: refused by host"
    assert _reason(RuntimeError("All download sources failed", [("one", ValueError()), ("two", wrapped)])) == (
        "OSError: refused by host"
    )
    assert _reason(ValueError()) == "ValueError"
    assert _reason(UnicodeDecodeError("utf-8", b"x", 0, 1, "bad")).startswith("UnicodeDecodeError: 'utf-8' codec")
