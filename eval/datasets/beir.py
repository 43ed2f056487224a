"""Folders in BEIR layout: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, the first two also with .gz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zerda_bench.eval.datasets.base import Dataset, DatasetError, checked, document_text
from zerda_bench.eval.datasets.files import id_field, json_lines, read_qrels, text_field, unique

__all__ = ["load_beir"]


def _existing(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise DatasetError(f"{folder}: there is no {name} or {name}.gz; a BEIR folder needs it")


def _qrels_file(folder: Path, split: str | None) -> Path:
    splits = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    if not splits:
        raise DatasetError(f"{folder}: there is no qrels/*.tsv; a BEIR folder needs one")
    if split is None:
        split = "test" if "test" in splits else next(iter(splits)) if len(splits) == 1 else None
    if split not in splits:
        asked = "no split was named" if split is None else f"there is no split {split!r}"
        raise DatasetError(f"{folder}: {asked}; there are: {', '.join(splits)}")
    return splits[split]


def _columns(fields: list[str]) -> tuple[str, str, str] | None:
    return (fields[0], fields[1], fields[2]) if len(fields) == 3 else None


def load_beir(folder: Path, *, split: str | None = None) -> Dataset:
    """Load a collection in BEIR layout (Thakur et al. 2021).

    Parameters
    ----------
    folder : Path
        Its name becomes the dataset's. ``meta.json``, where present, may give ``lang``, ``license`` and ``source``.
    split : str, optional
        Default ``test``, or the only one there is.

    Raises
    ------
    DatasetError
        Naming file and line, for anything missing, cut short, contradictory or empty.
    """
    doc_ids, texts, query_ids, queries = [], [], [], []
    path = _existing(folder, "corpus.jsonl")
    check = unique(path, "document")
    for number, row in json_lines(path, "_id", "text"):
        doc_ids.append(check(number, id_field(path, number, row, "_id")))
        title, text = (text_field(path, number, row, name) for name in ("title", "text"))
        texts.append(document_text(title, text))
    path = _existing(folder, "queries.jsonl")
    check = unique(path, "query")
    for number, row in json_lines(path, "_id", "text"):
        query_ids.append(check(number, id_field(path, number, row, "_id")))
        queries.append(text_field(path, number, row, "text"))
    path = _qrels_file(folder, split)
    qrels, repeated = read_qrels(path, _columns)
    meta: Any = {}
    if (folder / "meta.json").is_file():
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        except ValueError as error:
            raise DatasetError(f"{folder / 'meta.json'}: no valid JSON ({error})") from None
        if not isinstance(meta, dict):
            raise DatasetError(f"{folder / 'meta.json'}: expected a JSON object, got {type(meta).__name__}")
    language = meta.get("lang")
    source = {key: str(meta[key]) for key in ("source", "license", "note") if meta.get(key)}
    return checked(
        Dataset(
            name=folder.resolve().name if path.stem == "test" else f"{folder.resolve().name}/{path.stem}",
            doc_ids=doc_ids,
            texts=texts,
            query_ids=query_ids,
            queries=queries,
            qrels=qrels,
            language=str(language) if language else None,
            source={"format": "BEIR folder", "split": path.stem, **source},
            notices=(f"{repeated} judgments stand twice with the same grade",) if repeated else (),
        )
    )
