"""Collections as TREC writes them: documents, topics and qrels in three files."""

from __future__ import annotations

import re
from pathlib import Path

from zerda_bench.eval.datasets.base import Dataset, DatasetError, checked, document_text
from zerda_bench.eval.datasets.files import json_lines, read_lines, read_qrels, unique

__all__ = ["load_trec"]

_DOCUMENT = re.compile(r"<DOC>(.*?)</DOC>", re.DOTALL | re.IGNORECASE)
_TOPIC = re.compile(r"<top>(.*?)(?=</top>|<top>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_ID_FIELDS = ("_id", "id", "doc_id", "docid", "docno", "query_id", "qid")
_TEXT_FIELDS = ("text", "contents", "body", "query", "title")


def _kind(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[-1].lower() if "." in name else ""


def _field(tag: str, block: str) -> str:
    """The text after ``<tag>``, up to its end tag or the next tag."""
    found = re.search(rf"<{tag}>\s*(.*?)\s*(?=<|\Z)", block, re.DOTALL | re.IGNORECASE)
    return found.group(1).strip() if found else ""


def _rows(path: Path, kind: str) -> list[tuple[str, str]]:
    """Pairs of id and text from .jsonl, or tab-separated id and text."""
    rows = []
    check = unique(path, kind)
    if _kind(path) in ("jsonl", "json"):
        for number, row in json_lines(path):
            identifier = next((str(row[name]) for name in _ID_FIELDS if row.get(name) is not None), "")
            field = next((name for name in _TEXT_FIELDS if row.get(name) is not None), None)
            if field is None:
                raise DatasetError(
                    f"{path}, line {number}: no text; one of the fields {', '.join(_TEXT_FIELDS)} is needed"
                )
            title = str(row.get("title") or "") if field != "title" else ""
            rows.append((check(number, identifier), document_text(title, str(row[field]))))
        return rows
    for number, line in read_lines(path):
        identifier, tab, text = line.partition("\t")
        if not tab:
            raise DatasetError(f"{path}, line {number}: expected an id, a tab and a text, got {line[:60]!r}")
        rows.append((check(number, identifier.strip()), text.replace("\t", " ").strip()))
    return rows


def _tagged(path: Path) -> str:
    return "\n".join(line for _, line in read_lines(path))


def _documents(path: Path) -> list[tuple[str, str]]:
    if _kind(path) in ("jsonl", "json", "tsv"):
        return _rows(path, "document")
    text = _tagged(path)
    if text.upper().count("<DOC>") != text.upper().count("</DOC>"):
        raise DatasetError(f"{path}: not every <DOC> has a </DOC>; is the file cut short?")
    check = unique(path, "document")
    rows = []
    for number, block in enumerate(_DOCUMENT.findall(text), start=1):
        identifier = check(number, _field("DOCNO", block))
        body = re.sub(r"<DOCNO>.*?</DOCNO>", " ", block, flags=re.DOTALL | re.IGNORECASE)
        rows.append((identifier, " ".join(_TAG.sub(" ", body).split())))
    if not rows:
        raise DatasetError(f"{path}: no <DOC> elements; name the file .jsonl or .tsv if it holds such lines")
    return rows


def _topics(path: Path) -> list[tuple[str, str]]:
    if _kind(path) in ("jsonl", "json", "tsv"):
        return _rows(path, "query")
    text = _tagged(path)
    if "<top>" not in text.lower():
        return _rows(path, "query")  # id, tab, text under another name
    check = unique(path, "query")
    rows = []
    for number, block in enumerate(_TOPIC.findall(text), start=1):
        identifier = re.sub(r"^Number:\s*", "", _field("num", block)).strip()
        title = re.sub(r"^Topic:\s*", "", _field("title", block)).strip()
        if not title:
            raise DatasetError(f"{path}: topic {identifier or number} has no <title>")
        rows.append((check(number, identifier), " ".join(title.split())))
    return rows


def _columns(fields: list[str]) -> tuple[str, str, str] | None:
    return (fields[0], fields[2], fields[3]) if len(fields) == 4 else None


def load_trec(docs: Path | str, queries: Path | str, qrels: Path | str, *, name: str | None = None) -> Dataset:
    """Load documents, queries and judgments from three files.

    Parameters
    ----------
    docs : path
        TREC SGML (``<DOC>`` with ``<DOCNO>``), ``.jsonl`` with an id and a text, or ``.tsv`` with id, tab, text.
    queries : path
        TREC topics (``<top>`` with ``<num>`` and ``<title>``), ``.jsonl``, or id, tab, text.
    qrels : path
        Four columns, spaces or tabs: query, iteration, document, grade.
    name : str, optional
        Default the name of the documents' file.

    All three may be gzipped and have any line ending.

    Raises
    ------
    DatasetError
        Naming file and line, for anything missing, cut short, contradictory or empty.
    """
    docs, queries, qrels = Path(docs), Path(queries), Path(qrels)
    documents, topics = _documents(docs), _topics(queries)
    judged, repeated = read_qrels(qrels, _columns)
    return checked(
        Dataset(
            name=name or docs.name.split(".")[0],
            doc_ids=[identifier for identifier, _ in documents],
            texts=[text for _, text in documents],
            query_ids=[identifier for identifier, _ in topics],
            queries=[text for _, text in topics],
            qrels=judged,
            source={"format": "TREC files"},
            notices=(f"{repeated} judgments stand twice with the same grade",) if repeated else (),
        )
    )
