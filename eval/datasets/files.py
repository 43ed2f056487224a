"""Reading lines of dataset files, with errors that name file and line."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from zerda_bench.eval.datasets.base import DatasetError, Qrels

__all__ = ["id_field", "json_lines", "read_lines", "read_qrels", "text_field", "unique"]

# 2 and, as some tools write it, 2.0; no more digits than the 32 bits that trec_eval has for a grade.
_GRADE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")
# First fields of a header of judgments, as BEIR and its kin write it.
_HEADERS = {"qid", "query", "query-id", "query_id", "queryid", "topic"}


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line that is not blank; UTF-8, gzip by the file's name, any line ending.

    Raises
    ------
    DatasetError
        If the file cannot be read, is cut short or is not UTF-8.
    """
    number = 0
    try:
        with _opened(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DatasetError(f"{path}: damaged or cut short after line {number} ({error}); fetch it again") from None
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not UTF-8 after line {number} ({error.reason}); convert it") from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror or error}") from None


def json_lines(path: Path, *fields: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line, with `fields` checked to be there.

    Raises
    ------
    DatasetError
        If a line is no JSON object or lacks a field.
    """
    for number, line in read_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{path}, line {number}: no valid JSON ({error}); is the file cut short?") from None
        if not isinstance(row, dict):
            raise DatasetError(f"{path}, line {number}: expected a JSON object, got {type(row).__name__}")
        for name in fields:
            if name not in row or row[name] is None:
                raise DatasetError(f"{path}, line {number}: the field {name!r} is missing")
        yield number, row


def text_field(path: Path, number: int, row: dict[str, Any], name: str) -> str:
    """The string of a field; empty if the field is absent or null.

    Raises
    ------
    DatasetError
        If the field is anything but a string: its Python form is not what the document says.
    """
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DatasetError(f"{path}, line {number}: {name!r} must be a string, got {type(value).__name__}")
    return value


def id_field(path: Path, number: int, row: dict[str, Any], name: str) -> str:
    """The id in a field, a string or a whole number.

    Raises
    ------
    DatasetError
        If it is anything else.
    """
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise DatasetError(f"{path}, line {number}: {name!r} must be a string, got {type(value).__name__}")
    return str(value)


def unique(path: Path, kind: str) -> Callable[[int, str], str]:
    """A check that an id has not been seen before in this file."""
    seen: dict[str, int] = {}

    def check(number: int, identifier: str) -> str:
        if not identifier:
            raise DatasetError(f"{path}, line {number}: the {kind} id is empty")
        if identifier in seen:
            raise DatasetError(f"{path}: {kind} id {identifier!r} stands on line {seen[identifier]} and {number}")
        seen[identifier] = number
        return identifier

    return check


def read_qrels(path: Path, columns: Callable[[list[str]], tuple[str, str, str] | None]) -> tuple[Qrels, int]:
    """Judgments, and how many rows repeated one with the same grade.

    Parameters
    ----------
    columns : callable
        Query id, document id and grade from the fields of a line; None where they are not as they should be.

    Raises
    ------
    DatasetError
        If a line that is no header has other columns, an empty id or a grade that is no integer, or contradicts an
        earlier one.
    """
    qrels: Qrels = {}
    repeated = 0
    first = True
    for number, line in read_lines(path):
        fields = line.split("\t") if "\t" in line else line.split()
        header = first and fields[0].strip().lower() in _HEADERS and not _is_number(fields[-1])
        first = False
        if header:
            continue
        parts = columns(fields)
        if parts is None:
            raise DatasetError(f"{path}, line {number}: unexpected columns: {line[:80]!r}")
        query, doc, text = (part.strip() for part in parts)
        if not query or not doc:
            raise DatasetError(f"{path}, line {number}: the {'document' if query else 'query'} id is empty")
        if not _GRADE.fullmatch(text):
            raise DatasetError(f"{path}, line {number}: the grade must be an integer, got {text[:40]!r}")
        grade = int(text.split(".")[0])
        judged = qrels.setdefault(query, {})
        if doc in judged:
            if judged[doc] != grade:
                raise DatasetError(
                    f"{path}, line {number}: query {query!r} and document {doc!r} are judged {judged[doc]} and {grade}"
                )
            repeated += 1
        judged[doc] = grade
    return qrels, repeated


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
