"""Datasets: the embedded `pydocs`, ir_datasets ids, BEIR folders, TREC-style files."""

from __future__ import annotations

import os
from pathlib import Path

from zerda_bench.eval.datasets.base import Dataset, DatasetError
from zerda_bench.eval.datasets.trec import load_trec

__all__ = ["Dataset", "DatasetError", "known_datasets", "load_dataset", "load_trec"]


def load_dataset(ref: str | os.PathLike[str], *, split: str | None = None) -> Dataset:
    """Load a dataset by reference.

    Parameters
    ----------
    ref : str or path
        ``pydocs``, the path of a folder in BEIR layout, or an id of ir_datasets.
    split : str, optional
        For a BEIR folder: default ``test``, or the only one. For an ir_datasets id it is appended.

    Raises
    ------
    DatasetError
        In one line: what could not be had, why, and how to proceed.
    TypeError
        If `ref` is no text and no path.
    """
    if not isinstance(ref, (str, os.PathLike)):
        raise TypeError(f"ref must be a str or a path, got {type(ref).__name__}")
    ref = os.fspath(ref)
    if ref == "pydocs":
        from zerda_bench.eval.datasets.pydocs import load_pydocs

        if split is not None:
            raise DatasetError("pydocs: has no splits")
        return load_pydocs()
    if not ref.strip():
        raise DatasetError("a dataset's name is empty; see `zerda-bench datasets`")
    folder = Path(ref)
    if folder.is_dir():
        from zerda_bench.eval.datasets.beir import load_beir

        return load_beir(folder, split=split)
    if folder.is_file():
        raise DatasetError(f"{ref}: is a file; name a BEIR folder, or give --docs, --queries and --qrels")
    if folder.is_absolute() or ref.startswith("."):
        raise DatasetError(f"{ref}: there is no such folder")
    from zerda_bench.eval.datasets.irds import load_irds

    return load_irds(f"{ref}/{split}" if split else ref)


def known_datasets() -> list[tuple[str, str]]:
    """References and what they are, for a listing."""
    return [
        ("pydocs", "embedded: docstrings of numpy, scipy, pandas, numba and the standard library; known-item, English"),
        ("cranfield", "ir_datasets: 1,400 abstracts on aeronautics, 225 queries"),
        ("vaswani", "ir_datasets: 11,429 abstracts on physics, 93 queries"),
        ("beir/scifact/test", "ir_datasets: 5,183 abstracts, 300 claims"),
        ("beir/nfcorpus/test", "ir_datasets: 3,633 medical documents, 323 queries"),
        ("beir/fiqa/test", "ir_datasets: 57,638 answers on finance, 648 questions"),
        ("mr-tydi/ar/test", "ir_datasets: Arabic Wikipedia passages, 1,081 questions"),
        ("ANY-ID", "any id of the ir_datasets catalogue that has queries and judgments: https://ir-datasets.com"),
        ("path/to/folder", "BEIR layout: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv; .gz allowed"),
        ("--docs --queries --qrels", "TREC-style files: SGML, .jsonl or .tsv; topics; four-column qrels"),
    ]
