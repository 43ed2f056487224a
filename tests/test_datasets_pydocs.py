"""The embedded collection: how docstrings become queries and documents, and that it is the same every time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from zerda_bench.eval.datasets import DatasetError, load_dataset
from zerda_bench.eval.datasets.pydocs import from_docstrings
from zerda_bench.eval.datasets.pydocs_collect import described

BODY = "It reads every item once and keeps the best ones, in order, for as long as the caller has use for them all."


def build(*objects: tuple[str, str], **versions: str):
    return from_docstrings(objects, versions or {"lib": "1"})


def test_summary_is_the_query_and_the_rest_the_document() -> None:
    dataset = build(("lib.mod.top", f"Return the best items.\n\n{BODY} See lib.mod.top and top(3) on stop."))
    assert dataset.queries == ["Return the best items."]
    assert dataset.texts == [f"{BODY} See and (3) on stop."]
    assert dataset.qrels == {"lib.mod.top": {"lib.mod.top": 1}}


def test_signatures_are_skipped_and_long_first_paragraphs_cut_at_the_sentence() -> None:
    dataset = build(
        ("lib.f", f"f(x, /, out=None)\n\nCompute the thing here.\n\n{BODY}"),
        ("lib.g", f"Compute another thing\nover two lines. More of it.\n\n{BODY}"),
    )
    assert dataset.queries == ["Compute the thing here.", "Compute another thing over two lines."]
    assert dataset.texts[1] == f"More of it. {BODY}"


def test_aliases_are_one_object_and_equal_documents_one_document() -> None:
    shared = f"Return the best items.\n\n{BODY}"
    dataset = build(
        ("lib.deep.module.top", shared), ("lib.top", shared), ("lib.pick", f"Give the best ones.\n\n{BODY}")
    )
    assert dataset.doc_ids == ["lib.pick"]
    assert dataset.qrels == {"lib.pick": {"lib.pick": 1}, "lib.top": {"lib.pick": 1}}


def test_equal_summaries_are_one_query_and_house_phrases_none() -> None:
    same = [(f"lib.a{i}", f"Return the best items.\n\n{BODY} Number {'i' * (i + 1)}.") for i in range(2)]
    phrase = [(f"lib.b{i}", f"Return self times value.\n\n{BODY} Letter {'x' * (i + 1)}.") for i in range(4)]
    dataset = build(*same, *phrase)
    assert dataset.queries == ["Return the best items."]
    assert dataset.qrels == {"lib.a0": {"lib.a0": 1, "lib.a1": 1}}
    assert len(dataset.doc_ids) == 6


def test_summaries_differing_in_punctuation_are_equal_but_operators_count() -> None:
    dataset = build(
        ("lib.a", f"Query the `tree` for neighbours.\n\n{BODY} One."),
        ("lib.b", f"Query the ``tree`` for neighbours\n\n{BODY} Two."),
        ("lib.c", f"Return (x1 < x2) element-wise.\n\n{BODY} Three."),
        ("lib.d", f"Return (x1 > x2) element-wise.\n\n{BODY} Four."),
    )
    assert dataset.qrels == {"lib.a": {"lib.a": 1, "lib.b": 1}, "lib.c": {"lib.c": 1}, "lib.d": {"lib.d": 1}}


def test_short_rests_and_addresses_are_left_out() -> None:
    with pytest.raises(DatasetError, match="the corpus is empty"):
        build(("lib.a", "Return the best.\n\nSee b."), ("lib.b", f"Return it all.\n\n{BODY} <object at 0x7f00>"))


def test_versions_are_part_of_the_content_hash() -> None:
    document = ("lib.top", f"Return the best items.\n\n{BODY}")
    assert build(document, lib="1").content_hash != build(document, lib="2").content_hash


def test_the_installed_collection_is_large_and_the_same_in_every_process(tmp_path) -> None:
    dataset = load_dataset("pydocs")
    assert len(dataset.doc_ids) > 4000
    assert len(dataset.queries) > 4000
    assert len(set(dataset.texts)) == len(dataset.texts)
    assert {
        "version numpy",
        "version scipy",
        "version pandas",
        "version numba",
        "version python",
    } <= dataset.source.keys()
    known = set(dataset.doc_ids)
    assert {"pandas.DataFrame.merge", "pandas.Series.head", "pandas.Index.str.split", "numpy.linalg.svd"} <= known
    internal = (
        "numba.core",
        "numba.cuda",
        "numpy.distutils",
        "pandas.compat",
        "pandas.core",
        "pandas.util",
        "scipy._lib",
    )
    assert [name for name in known if name.startswith(internal) or "._" in name] == []
    assert all(judged.keys() <= known for judged in dataset.qrels.values())
    code = "from zerda_bench.eval.datasets import load_dataset; print(load_dataset('pydocs').content_hash)"
    env = {**os.environ, "PYTHONHASHSEED": "77", "COLUMNS": "31", "PYTHONPATH": os.getcwd()}
    env |= {"SCIPY_ARRAY_API": "1", "NUMBA_DISABLE_JIT": "1", "LANG": "de_DE.UTF-8", "PYTHONOPTIMIZE": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == dataset.content_hash, done.stderr
    assert done.stderr == ""


def test_members_are_those_of_the_library_inherited_or_handed_out() -> None:
    class Accessor:
        """Reach the text."""

        def upper(self) -> None:
            """Make it large."""

    class Base:
        def head(self) -> None:
            """Take the first."""

        def replaced(self) -> None:
            """Never seen."""

    class Foreign(Exception):  # noqa: N818
        def elsewhere(self) -> None:
            """Of another library."""

    class Series(Base, Foreign):
        """Hold a column."""

        str = Accessor

        @property
        def size(self) -> int:
            """Count the rows."""
            return 0

        @staticmethod
        def replaced() -> None:
            """Take its place."""

        def _hidden(self) -> None:
            """Is private."""

    for cls in (Accessor, Base, Series):
        cls.__module__ = "lib.core"
    assert dict(described("lib.Series", Series, "lib")) == {
        "lib.Series": "Hold a column.",
        "lib.Series.head": "Take the first.",
        "lib.Series.replaced": "Take its place.",
        "lib.Series.size": "Count the rows.",
        "lib.Series.str": "Reach the text.",
        "lib.Series.str.upper": "Make it large.",
    }


def test_a_library_that_does_not_import_is_an_error(tmp_path, monkeypatch) -> None:
    (tmp_path / "pandas.py").write_text("raise ImportError('broken pandas')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(DatasetError, match=r"collecting docstrings failed \(ImportError: broken pandas\)") as caught:
        load_dataset("pydocs")
    assert "\n" not in str(caught.value)


def test_it_has_no_splits() -> None:
    with pytest.raises(DatasetError, match="no splits"):
        load_dataset("pydocs", split="test")
