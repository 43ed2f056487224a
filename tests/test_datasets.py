"""Datasets and BEIR folders: what is read, what is refused, and what is noted."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zerda_bench.eval.datasets import Dataset, DatasetError, known_datasets, load_dataset
from zerda_bench.eval.datasets.base import document_text, judgment_notices

CORPUS = [
    {"_id": "007", "title": "Fox", "text": "The quick fox"},
    {"_id": "d2", "title": "", "text": "عاصمة مصر"},
    {"_id": "d3", "text": "no title here"},
]
QUERIES = [{"_id": "q1", "text": "fox"}, {"_id": "q2", "text": "مصر"}, {"_id": "q3", "text": "unjudged"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\t007\t1\nq2\td2\t2\n"


def lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def beir(
    folder: Path, corpus: str = lines(CORPUS), queries: str = lines(QUERIES), qrels: str = QRELS, split: str = "test"
) -> Path:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text(corpus, encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "qrels" / f"{split}.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_beir_folder(tmp_path: Path) -> None:
    dataset = load_dataset(str(beir(tmp_path / "mine")))
    assert dataset.name == "mine"
    assert dataset.doc_ids == ["007", "d2", "d3"]
    assert dataset.texts == ["Fox The quick fox", "عاصمة مصر", "no title here"]
    assert dataset.qrels == {"q1": {"007": 1}, "q2": {"d2": 2}}
    assert [dataset.query_ids[i] for i in dataset.judged_queries()] == ["q1", "q2"]
    assert dataset.notices == ("1 queries have no judgment; they are left out",)


def test_compression_and_line_endings_change_nothing(tmp_path: Path) -> None:
    plain = load_dataset(str(beir(tmp_path / "a")))
    folder = beir(tmp_path / "b", lines(CORPUS).replace("\n", "\r\n"), lines(QUERIES), QRELS.replace("\n", "\r\n"))
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress((folder / "corpus.jsonl").read_bytes()))
    (folder / "corpus.jsonl").unlink()
    assert load_dataset(str(folder)).content_hash == plain.content_hash


def test_content_hash_covers_everything(tmp_path: Path) -> None:
    other_text = lines([CORPUS[0], CORPUS[1], {**CORPUS[2], "text": "no title there"}])
    hashes = {
        load_dataset(str(folder)).content_hash
        for folder in (
            beir(tmp_path / "a"),
            beir(tmp_path / "b", corpus=other_text),
            beir(tmp_path / "c", queries=lines([{**QUERIES[0], "text": "foxes"}, *QUERIES[1:]])),
            beir(tmp_path / "d", qrels=QRELS.replace("d2\t2", "d2\t1")),
            beir(tmp_path / "e", corpus=lines(CORPUS[::-1])),
        )
    }
    assert len(hashes) == 5


def test_splits(tmp_path: Path) -> None:
    folder = beir(tmp_path, split="dev")
    assert load_dataset(str(folder)).name == f"{tmp_path.name}/dev"
    beir(tmp_path, split="train")
    with pytest.raises(DatasetError, match="no split was named; there are: dev, train"):
        load_dataset(str(folder))
    with pytest.raises(DatasetError, match="no split 'test'; there are"):
        load_dataset(str(folder), split="test")
    beir(tmp_path, split="test")
    assert load_dataset(str(folder)).name == tmp_path.name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpus": lines(CORPUS)[:-20]}, r"corpus.jsonl, line 3: no valid JSON"),
        ({"corpus": lines([CORPUS[0], {"_id": "x"}])}, "line 2: the field 'text' is missing"),
        ({"corpus": lines([CORPUS[0], {"_id": "x", "text": None}])}, "line 2: the field 'text' is missing"),
        ({"corpus": "[1]\n"}, "line 1: expected a JSON object, got list"),
        ({"corpus": ""}, "the corpus is empty"),
        ({"corpus": lines([*CORPUS, CORPUS[0]])}, "document id '007' stands on line 1 and 4"),
        ({"queries": ""}, "there are no queries"),
        ({"queries": lines([QUERIES[0], QUERIES[0]])}, "query id 'q1' stands on line 1 and 2"),
        ({"qrels": "query-id\tcorpus-id\tscore\n"}, "no judgments"),
        ({"qrels": QRELS + "q1\t007\n"}, "line 4: unexpected columns"),
        ({"qrels": "q1\t0\t007\t1\nq2\td2\t1\n"}, "line 1: unexpected columns"),
        ({"qrels": QRELS + "\t007\t1\n"}, "line 4: the query id is empty"),
        ({"qrels": QRELS + "q1\t\t1\n"}, "line 4: the document id is empty"),
        ({"qrels": "Q1\t007\t1\n"}, "none of the queries is judged; do their ids agree"),
        ({"corpus": lines([{"_id": "x", "text": ["a"]}])}, "line 1: 'text' must be a string, got list"),
        ({"corpus": lines([{"_id": "x", "title": {}, "text": "a"}])}, "line 1: 'title' must be a string, got dict"),
        ({"corpus": lines([{"_id": ["x"], "text": "a"}])}, "line 1: '_id' must be a string, got list"),
        ({"corpus": "[" * 100_000 + "\n"}, "line 1: no valid JSON"),
        ({"qrels": QRELS + "q1\td3\thigh\n"}, "line 4: the grade must be an integer, got 'high'"),
        ({"qrels": QRELS + "q1\td3\t0.5\n"}, "line 4: the grade must be an integer"),
        ({"qrels": QRELS + "q1\td3\t1_0\n"}, "line 4: the grade must be an integer"),
        ({"qrels": QRELS + "q1\td3\tnan\n"}, "line 4: the grade must be an integer"),
        ({"qrels": QRELS + f"q1\td3\t{'9' * 5000}\n"}, "line 4: the grade must be an integer"),
        ({"qrels": QRELS + "q1\t007\t0\n"}, "query 'q1' and document '007' are judged 1 and 0"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, change: dict[str, str], message: str) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(str(beir(tmp_path, **change)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "header", ["query-id\tcorpus-id\tscore\n", "query_id doc_id relevance\n", "\ufeffqid\tdid\tlabel\n", ""]
)
def test_the_header_of_judgments_may_differ_or_be_absent(tmp_path: Path, header: str) -> None:
    dataset = load_dataset(str(beir(tmp_path, qrels=header + "q1\t007\t1\nq2\td2\t2\n")))
    assert dataset.qrels == {"q1": {"007": 1}, "q2": {"d2": 2}}


def test_whole_numbers_may_be_written_with_a_point(tmp_path: Path) -> None:
    dataset = load_dataset(beir(tmp_path, qrels="q1\t007\t1.0\nq1\td2\t-1\nq2\td2\t+2\n"))
    assert dataset.qrels == {"q1": {"007": 1, "d2": -1}, "q2": {"d2": 2}}


def test_meta_json_gives_language_and_licence(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    (folder / "meta.json").write_text('{"lang": "ar", "license": "CC BY 4.0"}', encoding="utf-8")
    dataset = load_dataset(str(folder))
    assert (dataset.language, dataset.source["license"]) == ("ar", "CC BY 4.0")
    (folder / "meta.json").write_text("[]", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"meta.json: expected a JSON object, got list"):
        load_dataset(str(folder))


def test_an_empty_name_is_no_folder() -> None:
    with pytest.raises(DatasetError, match="name is empty"):
        load_dataset(" ")
    with pytest.raises(TypeError, match="ref must be a str or a path, got NoneType"):
        load_dataset(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("ref", ["/no/such/folder", "./no-such-folder"])
def test_a_path_is_no_catalogue_id(ref: str) -> None:
    with pytest.raises(DatasetError, match=f"{ref}: there is no such folder"):
        load_dataset(ref)


def test_truncated_gzip_and_wrong_encoding(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    (folder / "corpus.jsonl").unlink()
    whole = gzip.compress(lines(CORPUS * 1).encode() * 1, mtime=0)
    (folder / "corpus.jsonl.gz").write_bytes(whole[:-9])
    with pytest.raises(DatasetError, match=r"corpus.jsonl.gz: damaged or cut short"):
        load_dataset(str(folder))
    (folder / "corpus.jsonl.gz").write_bytes(b"no gzip at all")
    with pytest.raises(DatasetError, match="damaged or cut short"):
        load_dataset(str(folder))
    (folder / "corpus.jsonl.gz").unlink()
    (folder / "corpus.jsonl").write_bytes('{"_id": "é", "text": "x"}\n'.encode("latin-1"))
    with pytest.raises(DatasetError, match="not UTF-8"):
        load_dataset(str(folder))


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"there is no corpus.jsonl"):
        load_dataset(str(tmp_path))
    folder = beir(tmp_path / "x")
    shutil.rmtree(folder / "qrels")
    with pytest.raises(DatasetError, match=r"there is no qrels/\*.tsv"):
        load_dataset(str(folder))
    with pytest.raises(DatasetError, match="is a file"):
        load_dataset(str(folder / "corpus.jsonl"))


def test_judgments_that_dangle_are_counted_and_kept(tmp_path: Path) -> None:
    extra = "q1\tnowhere\t1\nq9\t007\t1\nq2\td2\t2\nq3\td3\t0\n"
    dataset = load_dataset(str(beir(tmp_path, qrels=QRELS + extra)))
    assert dataset.qrels["q1"] == {"007": 1, "nowhere": 1}
    assert dataset.qrels["q9"] == {"007": 1}
    notes = " | ".join(dataset.notices)
    for expected in (
        "1 judgments stand twice",
        "1 judgments name documents",
        "1 judged queries are not",
        "1 judged queries have no relevant",
    ):
        assert expected in notes


def test_sample_is_fixed_and_says_so(tmp_path: Path) -> None:
    queries = [{"_id": f"q{i}", "text": f"fox {i}"} for i in range(50)]
    qrels = "query-id\tcorpus-id\tscore\n" + "".join(f"q{i}\t007\t1\n" for i in range(50))
    dataset = load_dataset(str(beir(tmp_path, queries=lines(queries), qrels=qrels)))
    sample = dataset.sample_queries(10)
    assert sample.query_ids == dataset.sample_queries(10).query_ids
    assert set(sample.query_ids) < set(dataset.sample_queries(20).query_ids)
    assert len(sample.qrels) == len(sample.queries) == 10
    assert "a fixed sample of 10 of 50 judged queries" in sample.notices
    assert sample.content_hash != dataset.content_hash
    assert dataset.sample_queries(50) is dataset
    other = dataset.sample_queries(10, seed=1)
    assert other.query_ids != sample.query_ids
    assert "a fixed sample of 10 of 50 judged queries (seed 1)" in other.notices
    with pytest.raises(ValueError, match="1 query or more"):
        dataset.sample_queries(0)


def test_notices_of_a_sample_count_the_sample(tmp_path: Path) -> None:
    qrels = QRELS + "q1\tnowhere\t1\nq2\tnowhere\t1\nq9\t007\t1\n"
    sample = load_dataset(str(beir(tmp_path, qrels=qrels))).sample_queries(1)
    assert len(sample.notices) == 2
    assert sample.notices[0].startswith("1 judgments name documents that the corpus lacks")
    assert sample.notices[1] == "a fixed sample of 1 of 2 judged queries"


def test_queries_that_are_documents_are_counted(tmp_path: Path) -> None:
    corpus = [*CORPUS, {"_id": "q1", "title": "On foxes", "text": "foxes  are quick"}, {"_id": "q2", "text": "other"}]
    queries = [{"_id": "q1", "text": "foxes are quick"}, {"_id": "q2", "text": "مصر"}]
    dataset = load_dataset(beir(tmp_path, lines(corpus), lines(queries)))
    said = "1 queries are themselves documents (same id and text); these are not taken out of their results"
    assert dataset.notices == (said,)


def test_a_query_with_no_grade_at_all_is_not_judged() -> None:
    dataset = Dataset("x", ["d"], ["t"], ["q1", "q2"], ["a", "b"], {"q1": {}, "q2": {"d": 1}})
    assert dataset.judged_queries() == [1]
    assert judgment_notices(dataset) == ("1 queries have no judgment; they are left out",)


def test_title_and_text() -> None:
    assert document_text("", "text") == "text"
    assert document_text("title", "") == "title"
    assert document_text("title", "text") == "title text"


@pytest.mark.parametrize(
    ("name", "docs", "queries", "judgments"),
    [
        ("cranfield", 1400, 225, 1837),
        ("vaswani", 11429, 93, 2083),
        ("scifact", 5183, 300, 339),
        ("cacm", 3204, 52, 796),
        ("arcd", 460, 1395, 1395),
    ],
)
def test_real_collections_have_their_published_size(collections, name, docs, queries, judgments) -> None:
    dataset = load_dataset(str(collections / name))
    sizes = len(dataset.doc_ids), len(dataset.judged_queries()), sum(map(len, dataset.qrels.values()))
    assert sizes == (docs, queries, judgments)
    assert dataset.language == ("ar" if name == "arcd" else "en")


def test_known_datasets_are_described() -> None:
    assert known_datasets()[0][0] == "pydocs"
    assert all(ref and description for ref, description in known_datasets())


def test_files_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    code = f"from zerda_bench.eval.datasets import load_dataset; print(ascii(load_dataset({str(folder)!r}).texts[1]))"
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == ascii("عاصمة مصر"), done.stderr


def test_dataset_without_judgments_for_any_query_is_usable() -> None:
    dataset = Dataset("x", ["d"], ["t"], ["q"], ["t"], {"other": {"d": 1}})
    assert dataset.judged_queries() == []
