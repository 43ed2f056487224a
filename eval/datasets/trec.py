"""Collections as TREC writes them: documents, topics and qrels in three files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from zerda_bench.eval.datasets.base import Dataset, DatasetError, checked, document_text
from zerda_bench.eval.datasets.files import id_field, json_lines, read_lines, read_qrels, text_field, unique

__all__ = ["load_trec"]

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)  # not the sign in "p < 0.05"
_DOCNO = re.compile(r"<DOCNO>.*?</DOCNO>", re.DOTALL | re.IGNORECASE)
# The elements that ir_datasets takes for content in TREC's documents; others hold numbers, bylines, subject codes.
_CONTENT = re.compile(
    r"<(TEXT|HEADLINE|TITLE|HL|HEAD|TTL|DD|DATE|LP|LEADPARA)\b[^<>]*>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_ID_FIELDS = ("_id", "id", "doc_id", "docid", "docno", "query_id", "qid")
_TEXT_FIELDS = ("text", "contents", "body", "query", "title")


def _kind(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[-1].lower() if "." in name else ""


def _field(tag: str, block: str) -> str:
    """The text after ``<tag>``, up to its end tag or the next tag."""
    found = re.search(rf"<{tag}>\s*(.*?)\s*(?=</?[A-Za-z]|\Z)", block, re.DOTALL | re.IGNORECASE)
    return _plain(found.group(1)) if found else ""


def _plain(markup: str) -> str:
    """Text without tags, entities resolved, on one line."""
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _rows(path: Path, kind: str) -> list[tuple[str, str]]:
    """Pairs of id and text from .jsonl, or tab-separated id and text."""
    rows = []
    check = unique(path, kind)
    if _kind(path) in ("jsonl", "json"):
        for number, row in json_lines(path):
            named = next((name for name in _ID_FIELDS if row.get(name) is not None), None)
            identifier = id_field(path, number, row, named) if named else ""
            field = next((name for name in _TEXT_FIELDS if row.get(name) is not None), None)
            if field is None:
                raise DatasetError(
                    f"{path}, line {number}: no text; one of the fields {', '.join(_TEXT_FIELDS)} is needed"
                )
            title = text_field(path, number, row, "title") if field != "title" else ""
            rows.append((check(number, identifier), document_text(title, text_field(path, number, row, field))))
        return rows
    for number, line in read_lines(path):
        identifier, tab, text = line.partition("\t")
        if not tab:
            raise DatasetError(f"{path}, line {number}: expected an id, a tab and a text, got {line[:60]!r}")
        rows.append((check(number, identifier.strip()), text.replace("\t", " ").strip()))
    return rows


def _whole(path: Path) -> str:
    """The file's text, blank lines kept, so that lines can be counted."""
    lines: list[str] = []
    for number, line in read_lines(path):
        lines.extend([""] * (number - 1 - len(lines)))
        lines.append(line)
    return "\n".join(lines)


def _elements(path: Path, text: str, tag: str) -> Iterator[tuple[int, str]]:
    """Line and content of each element ``<tag>``. Where no end tag stands in the whole file, the next one ends it."""
    marks = [(mark.start(), mark.end(), bool(mark.group(1))) for mark in re.finditer(rf"<(/?){tag}>", text, re.I)]
    if marks and not any(closes for *_, closes in marks):
        starts = [start for start, *_ in marks]
        marks = [m for m, after in zip(marks, [*starts[1:], len(text)], strict=True) for m in (m, (after, after, True))]
    line, counted = 1, 0
    opened: tuple[int, int] | None = None  # line of the start tag and where its content begins
    for start, end, closes in marks:
        line += text.count("\n", counted, start)
        counted = start
        if closes and opened:
            yield opened[0], text[opened[1] : start]
            opened = None
        elif closes or opened:
            wrong = f"</{tag}> without <{tag}>" if closes else f"<{tag}> before </{tag}>"
            raise DatasetError(f"{path}, line {line}: {wrong}; is the file damaged?")
        else:
            opened = line, end
    if opened:
        raise DatasetError(f"{path}, line {opened[0]}: not every <{tag}> has a </{tag}>; is the file cut short?")


def _documents(path: Path) -> list[tuple[str, str]]:
    if _kind(path) in ("jsonl", "json", "tsv"):
        return _rows(path, "document")
    text = _whole(path)
    if text and not re.search("</DOC>", text, re.IGNORECASE):
        wrong = "has no </DOC>" if re.search("<DOC>", text, re.IGNORECASE) else "has no <DOC> elements"
        raise DatasetError(f"{path}: {wrong}; name the file .jsonl or .tsv if it holds such lines")
    check = unique(path, "document")
    rows = []
    for number, block in _elements(path, text, "DOC"):
        content = [found.group(2) for found in _CONTENT.finditer(block)] or [_DOCNO.sub(" ", block)]
        rows.append((check(number, _field("DOCNO", block)), _plain(" ".join(content))))
    return rows


def _topics(path: Path) -> list[tuple[str, str]]:
    if _kind(path) in ("jsonl", "json", "tsv"):
        return _rows(path, "query")
    text = _whole(path)
    if "<top>" not in text.lower():
        return _rows(path, "query")  # id, tab, text under another name
    check = unique(path, "query")
    rows = []
    for number, block in _elements(path, text, "top"):
        identifier = re.sub(r"^Number:\s*", "", _field("num", block), flags=re.IGNORECASE)
        title = re.sub(r"^Topic:\s*", "", _field("title", block), flags=re.IGNORECASE)
        if not title:
            raise DatasetError(f"{path}, line {number}: topic {identifier!r} has no <title>")
        rows.append((check(number, identifier), title))
    return rows


def _columns(fields: list[str]) -> tuple[str, str, str] | None:
    fields = " ".join(fields).split()  # tabs and spaces may be mixed
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
