"""The embedded collection: docstrings of the installed scientific libraries, a known-item task on real text.

A query is the one-line summary of a public object; its document is the rest of the docstring, without the summary and
the object's own name. The task is to find the document that the summary belongs to.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from zerda_bench.eval.datasets.base import Dataset, DatasetError, Qrels, checked

__all__ = ["from_docstrings", "load_pydocs"]

# Shorter rests say next to nothing ("Refer to numpy.sum.") and could belong to many summaries.
_SHORTEST_DOCUMENT = 20  # words
_SHORTEST_QUERY = 3  # words
# A summary that more documents share is a phrase of the house, not a description of one item.
_MOST_DOCUMENTS = 3

_SIGNATURE = re.compile(r"[\w.]+\(.*\)(\s*->.*)?", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_WORD = re.compile(r"\w+")
# Two summaries that differ in these alone ask for the same thing. Operators are not among them: x1 < x2, x1 > x2.
_PUNCTUATION = re.compile(r"[`'\".,:;]+")
# What a process needs to start and to find the same libraries. Anything else stays out: SCIPY_ARRAY_API or
# NUMBA_DISABLE_JIT, say, change docstrings.
_NEEDED = {
    "APPDATA", "DYLD_LIBRARY_PATH", "HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE",
    "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE", "VIRTUAL_ENV",
}  # fmt: skip


def _split(docstring: str) -> tuple[str, str] | None:
    """Summary and rest; None where there is no one-line summary.

    The summary is the first paragraph after any signatures, or the first sentence of it where it runs over lines.
    """
    paragraphs = re.split(r"\n\s*\n", docstring.strip())
    while paragraphs and _SIGNATURE.fullmatch(paragraphs[0].strip()):
        paragraphs.pop(0)
    if not paragraphs:
        return None
    first, rest = paragraphs[0], paragraphs[1:]
    joined = " ".join(first.split())
    if "\n" in first.strip():
        sentence, *more = _SENTENCE_END.split(joined, maxsplit=1)
        return sentence, "\n\n".join([*more, *rest])
    return joined, "\n\n".join(rest)


def _without(text: str, name: str, summary: str) -> str:
    """`text` on one line, without the object's name, plain or qualified, and without its summary."""
    text = " ".join(text.split()).replace(summary, " ")
    last = re.escape(name.rsplit(".", 1)[-1])
    return " ".join(re.sub(rf"(?<!\w)(?:\w+\.)*{last}(?!\w)", " ", text).split())


def from_docstrings(objects: Iterable[tuple[str, str]], versions: Mapping[str, str]) -> Dataset:
    """Build the collection from qualified names and docstrings.

    Objects with one docstring are aliases, known by the shortest name. Objects whose documents come out equal share
    one document. Summaries equal but for case and punctuation are one query with all their documents relevant.
    """
    aliases: dict[str, list[str]] = defaultdict(list)
    for name, docstring in objects:
        # A memory address would differ from run to run.
        if " at 0x" not in docstring:
            aliases[docstring].append(name)
    named = sorted((min(names, key=lambda n: (len(n), n)), docstring) for docstring, names in aliases.items())
    documents: dict[str, str] = {}  # text -> id
    summaries: dict[str, dict[str, None]] = defaultdict(dict)  # folded summary -> document ids, in order
    wording: dict[str, str] = {}
    first_name: dict[str, str] = {}
    for name, docstring in named:
        parts = _split(docstring)
        if parts is None:
            continue
        summary, rest = parts
        text = _without(rest, name, summary)
        if len(_WORD.findall(text)) < _SHORTEST_DOCUMENT:
            continue
        doc_id = documents.setdefault(text, name)
        if len(_WORD.findall(summary)) >= _SHORTEST_QUERY:
            key = " ".join(_PUNCTUATION.sub(" ", summary.casefold()).split())
            wording.setdefault(key, summary)
            first_name.setdefault(key, name)
            summaries[key][doc_id] = None
    qrels: Qrels = {}
    queries: dict[str, str] = {}
    for key, relevant in summaries.items():
        if len(relevant) <= _MOST_DOCUMENTS:
            queries[first_name[key]] = wording[key]
            qrels[first_name[key]] = dict.fromkeys(relevant, 1)
    return checked(
        Dataset(
            name="pydocs",
            doc_ids=list(documents.values()),
            texts=list(documents),
            query_ids=list(queries),
            queries=list(queries.values()),
            qrels=qrels,
            language="en",
            source={
                "format": "docstrings of the installed libraries",
                **{f"version {library}": version for library, version in sorted(versions.items())},
            },
        )
    )


def load_pydocs() -> Dataset:
    """Collect the docstrings of numpy, scipy, pandas, numba and the standard library as installed here.

    They are collected twice, side by side; docstrings that came out differently (some are made with random numbers at
    import) are left out.

    Raises
    ------
    DatasetError
        If a collecting process fails.
    """
    script = Path(__file__).with_name("pydocs_collect.py")
    # What docstrings may depend on is fixed: hash order, terminal width, language.
    fixed = {"PYTHONHASHSEED": "0", "COLUMNS": "80", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    environment = {name: value for name, value in os.environ.items() if name.upper() in _NEEDED} | fixed
    command = [sys.executable, "-P", "-W", "ignore", str(script)]
    with tempfile.TemporaryDirectory() as empty, ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(
                subprocess.run,
                command,
                env=environment,
                cwd=empty,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            for _ in range(2)
        ]
        collected = [_collected(run.result()) for run in runs]
    first, second = ({name: _steady(text) for name, text in run["objects"]} for run in collected)
    same = [(name, text) for name, text in first.items() if second.get(name) == text]
    return from_docstrings(same, collected[0]["versions"])


def _collected(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise DatasetError(
            f"pydocs: collecting docstrings failed ({lines[-1]}); check that numpy, scipy, pandas import"
        )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _steady(docstring: str) -> str:
    """Without lines that say of themselves that they change, as doctests do."""
    return "\n".join(line for line in docstring.split("\n") if not line.rstrip().endswith("# may vary"))
