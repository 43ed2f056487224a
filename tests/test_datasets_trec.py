"""TREC-style files: what is read and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from zerda_bench.eval.datasets import DatasetError, load_trec

SGML = """<DOC>
<DOCNO> A-1 </DOCNO>
<TITLE>Fox</TITLE>
<TEXT>
The quick fox
</TEXT>
</DOC>
<DOC><DOCNO>A-2</DOCNO><TEXT>عاصمة مصر</TEXT></DOC>
"""
TOPICS = """<top>
<num> Number: 301
<title> quick fox
<desc> Description: foxes
</top>
<top>
<num> Number: 302
<title> مصر
</top>
"""


@pytest.mark.parametrize("qrels", ["301 0 A-1 1\n302 0 A-2 1\n", "301\t0\tA-1\t1\r\n302\t0\tA-2\t1\r\n"])
def test_trec_files(tmp_path: Path, qrels: str) -> None:
    (tmp_path / "docs.sgml").write_text(SGML, encoding="utf-8")
    (tmp_path / "topics.txt").write_text(TOPICS, encoding="utf-8")
    (tmp_path / "qrels.txt").write_bytes(qrels.encode())
    dataset = load_trec(tmp_path / "docs.sgml", tmp_path / "topics.txt", tmp_path / "qrels.txt")
    assert dataset.name == "docs"
    assert dict(zip(dataset.doc_ids, dataset.texts, strict=True)) == {"A-1": "Fox The quick fox", "A-2": "عاصمة مصر"}
    assert dict(zip(dataset.query_ids, dataset.queries, strict=True)) == {"301": "quick fox", "302": "مصر"}
    assert dataset.qrels == {"301": {"A-1": 1}, "302": {"A-2": 1}}


def test_trec_like_tables(tmp_path: Path) -> None:
    (tmp_path / "docs.tsv").write_text("007\tThe fox\nd2\tمصر\n", encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"id": 1, "text": "fox"}\n', encoding="utf-8")
    (tmp_path / "qrels.gz").write_bytes(gzip.compress(b"1 0 007 1\n"))
    dataset = load_trec(tmp_path / "docs.tsv", tmp_path / "queries.jsonl", tmp_path / "qrels.gz", name="mine")
    assert (dataset.name, dataset.doc_ids, dataset.query_ids) == ("mine", ["007", "d2"], ["1"])
    (tmp_path / "docs.tsv").write_text("007 The fox\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"docs.tsv, line 1: expected an id, a tab and a text"):
        load_trec(tmp_path / "docs.tsv", tmp_path / "queries.jsonl", tmp_path / "qrels.gz")
    (tmp_path / "docs.sgml").write_text(SGML[:-8], encoding="utf-8")
    with pytest.raises(DatasetError, match="line 8: not every <DOC> has a </DOC>"):
        load_trec(tmp_path / "docs.sgml", tmp_path / "queries.jsonl", tmp_path / "qrels.gz")
    with pytest.raises(DatasetError, match=r"absent.txt: cannot be read"):
        load_trec(tmp_path / "absent.txt", tmp_path / "queries.jsonl", tmp_path / "qrels.gz")


@pytest.mark.parametrize(
    ("docs", "topics", "qrels", "message"),
    [
        (SGML + SGML, TOPICS, "301 0 A-1 1\n", r"docs.sgml: document id 'A-1' stands on line 1 and 9"),
        ("<DOC>\n<TEXT>x</TEXT></DOC>", TOPICS, "301 0 A-1 1\n", r"docs.sgml, line 1: the document id is empty"),
        (SGML[5:], TOPICS, "301 0 A-1 1\n", r"docs.sgml, line 7: </DOC> without <DOC>"),
        (SGML.replace("</DOC>", "", 1), TOPICS, "301 0 A-1 1\n", r"docs.sgml, line 8: <DOC> before </DOC>"),
        ("plain text\n", TOPICS, "301 0 A-1 1\n", r"docs.sgml: has no <DOC> elements"),
        ("", TOPICS, "301 0 A-1 1\n", "the corpus is empty"),
        (SGML, TOPICS[:-8], "301 0 A-1 1\n", r"topics.txt, line 6: not every <top> has a </top>"),
        (SGML, TOPICS.replace("<title> مصر", ""), "301 0 A-1 1\n", r"topics.txt, line 6: topic '302' has no <title>"),
        (SGML, TOPICS, "301 A-1 1\n301 0 A-1 1\n", r"qrels.txt, line 1: unexpected columns"),
        (SGML, TOPICS, "", "no judgments"),
    ],
)
def test_broken_trec_files_are_named(tmp_path: Path, docs: str, topics: str, qrels: str, message: str) -> None:
    for name, text in (("docs.sgml", docs), ("topics.txt", topics), ("qrels.txt", qrels)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=message) as caught:
        load_trec(tmp_path / "docs.sgml", tmp_path / "topics.txt", tmp_path / "qrels.txt")
    assert "\n" not in str(caught.value)


def test_trec_markup(tmp_path: Path) -> None:
    docs = (
        "<doc>\n<docno>1</docno><DOCID>9</DOCID>\n<HEADLINE>AT&amp;T</HEADLINE>\n\n"
        "<TEXT><P>p < 0.05 and\nmore</P></TEXT></doc>"
        "<DOC><DOCNO>2</DOCNO>no element of content</DOC>"
    )
    (tmp_path / "docs.sgml").write_text(docs, encoding="utf-8")
    (tmp_path / "topics").write_text(
        "<top>\n<num> number: 1\n<title> Topic: p < q\n<top><num>2<title>r", encoding="utf-8"
    )
    (tmp_path / "qrels").write_text("1 0\t1 1\n", encoding="utf-8")
    dataset = load_trec(tmp_path / "docs.sgml", tmp_path / "topics", tmp_path / "qrels")
    assert dataset.texts == ["AT&T p < 0.05 and more", "no element of content"]
    assert dict(zip(dataset.query_ids, dataset.queries, strict=True)) == {"1": "p < q", "2": "r"}
    assert dataset.qrels == {"1": {"1": 1}}
