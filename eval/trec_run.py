"""TREC run files: ``query Q0 document rank score tag``, one line a hit, compressed where the name ends in ``.gz``.

Scores have their shortest form that reads back as the same float64, so a file holds exactly the ranking it was made
from, and equal rankings are equal bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from zerda_bench.eval.storage import replacing
from zerda_bench.hits import Hits

__all__ = ["check_ids", "read_run", "write_run"]

# Characters collected before they are handed to the compressor.
_CHUNK = 1 << 20
# Five times as fast as level 6, for files 5 % larger.
_GZIP_LEVEL = 1


def check_ids(ids: Iterable[str], argument: str) -> None:
    """Check that ids can stand in a run file, whose columns are separated by whitespace.

    Raises
    ------
    ValueError
        For an id that is empty, holds whitespace or cannot be written as UTF-8.
    """
    for one in ids:
        try:
            one.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{argument}: the id {one!r} holds half a surrogate pair; rename it") from None
        if one.split() != [one]:
            raise ValueError(
                f"{argument}: the id {one!r} is empty or holds whitespace, which separates the columns of a TREC run "
                "file; rename it, or measure without run files"
            )


def write_run(
    path: str | os.PathLike[str], query_ids: Sequence[str], doc_ids: Sequence[str], hits: Hits, *, tag: str
) -> None:
    """Write a ranking as a TREC run file, atomically. Ranks count from 1; a ranking without hits is an empty file.

    Parameters
    ----------
    path : path
        Compressed where it ends in ``.gz``.
    query_ids : sequence of str
        Id of each row of `hits`.
    doc_ids : sequence of str
        Id of each document index. Neither kind may hold whitespace (`check_ids`).
    hits : Hits
    tag : str
        Last column: the name of the system, without whitespace.

    Raises
    ------
    ValueError
        If an id that occurs in the ranking or the tag is empty or holds whitespace, or `query_ids` and `hits` differ
        in length.
    """
    if len(query_ids) != hits.n_queries:
        raise ValueError(f"query_ids has {len(query_ids)} entries for {hits.n_queries} rows of hits")
    check_ids([tag], "tag")
    check_ids(query_ids, "query_ids")
    check_ids((doc_ids[doc] for doc in _returned(hits)), "doc_ids")
    names = np.array([f" Q0 {doc} " for doc in doc_ids], dtype=object)
    ranks = [f"{rank} " for rank in range(1, hits.width + 1)]
    with _opened(path) as stream:
        for chunk in _chunks(query_ids, names, ranks, hits, f" {tag}\n"):
            stream.write(chunk.encode())


def _returned(hits: Hits) -> list[int]:
    """Documents that occur at least once."""
    documents: list[int] = np.unique(hits.ids).tolist()
    return documents[1:] if documents and documents[0] < 0 else documents


def _chunks(query_ids: Sequence[str], names: np.ndarray, ranks: Sequence[str], hits: Hits, tail: str) -> Iterator[str]:
    """Lines of the file, about `_CHUNK` characters at a time."""
    lines: list[str] = []
    size = 0
    for row, query in enumerate(query_ids):
        documents, scores = hits.row(row)
        lines += [
            f"{query}{name}{rank}{score!r}{tail}"
            for name, rank, score in zip(names[documents].tolist(), ranks, scores.tolist(), strict=False)
        ]
        size += len(documents) * (len(query) + len(tail) + 40)
        if size >= _CHUNK:
            yield "".join(lines)
            lines, size = [], 0
    yield "".join(lines)


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The target file, written whole or not at all; compressed without a name or time in its header."""
    with replacing(path) as raw:
        if os.fspath(path).endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0) as compressed:
                yield compressed  # type: ignore[misc]  # a GzipFile is a binary stream in all but name
        else:
            yield raw


def read_run(path: str | os.PathLike[str]) -> dict[str, list[tuple[str, float]]]:
    """Rankings of a run file in its own order: query id -> pairs of document id and score; {} for an empty file.

    Raises
    ------
    ValueError
        If a line has not six columns, or a score is no number (naming the file and the line), or a compressed file
        is damaged.
    """
    rankings: dict[str, list[tuple[str, float]]] = {}
    opener = gzip.open if os.fspath(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                columns = line.split()
                if len(columns) != 6:
                    raise ValueError(f"{Path(path)}:{number}: a run file has six columns, this line has {len(columns)}")
                query, _, document, _, score, _ = columns
                try:
                    rankings.setdefault(query, []).append((document, float(score)))
                except ValueError:
                    raise ValueError(f"{Path(path)}:{number}: score {score!r} is no number") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{Path(path)} is damaged or cut short: {error}") from None
    return rankings
