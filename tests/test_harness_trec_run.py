"""eval/trec_run.py: what is written reads back to the last bit, here and in ir_measures."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerda_bench.eval.trec_run import check_ids, read_run, write_run
from zerda_bench.hits import Hits

SCORES = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.lists(st.lists(st.tuples(st.integers(0, 9), SCORES), max_size=8), min_size=1, max_size=5)
DOCS = [f"doc-{i}" for i in range(9)] + ["وثيقة"]


def hits_of(rows) -> Hits:
    return Hits.from_rows([([doc for doc, _ in row], [score for _, score in row]) for row in rows])


@pytest.mark.parametrize("suffix", ["run", "run.gz"])
@given(rows=ROWS)
def test_round_trip_is_exact(rows, suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("runs") / f"x.{suffix}"
    queries = [f"q{i}" for i in range(len(rows))]
    write_run(path, queries, DOCS, hits_of(rows), tag="rrf(k=60)")
    ref = {query: [(DOCS[doc], score) for doc, score in row] for query, row in zip(queries, rows, strict=True) if row}
    got = read_run(path)
    assert got == ref
    assert list(got) == list(ref)


def test_six_columns_ranks_from_one(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    write_run(path, ["q1", "q2"], ["a", "b"], hits_of([[(1, 0.1 + 0.2), (0, 0.25)], [(0, 1e-300)]]), tag="bm25")
    assert path.read_text(encoding="utf-8") == (
        "q1 Q0 b 1 0.30000000000000004 bm25\nq1 Q0 a 2 0.25 bm25\nq2 Q0 a 1 1e-300 bm25\n"
    )
    first = next(iter(ir_measures.read_trec_run(str(path))))
    assert (first.query_id, first.doc_id, first.score) == ("q1", "b", 0.1 + 0.2)


@pytest.mark.parametrize("suffix", ["run", "run.gz"])
def test_an_empty_ranking_is_an_empty_file_that_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    write_run(path, ["q1", "q2"], ["a"], Hits.empty(2, 5), tag="bm25")
    data = path.read_bytes()
    assert (gzip.decompress(data) if suffix.endswith("gz") else data) == b""
    assert read_run(path) == {}


def test_long_rankings_pass_through_in_chunks(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n_queries, width = 60, 500
    docs = [f"document-{i}" for i in range(width)]
    scores = -np.sort(-rng.random((n_queries, width)), axis=1)
    ids = np.array([rng.permutation(width) for _ in range(n_queries)])
    hits = Hits(ids, scores, np.full(n_queries, width))
    queries = [f"q{i}" for i in range(n_queries)]
    write_run(tmp_path / "x.run.gz", queries, docs, hits, tag="t")
    got = read_run(tmp_path / "x.run.gz")
    for q, query in enumerate(queries):
        assert got[query] == [(docs[d], s) for d, s in zip(ids[q].tolist(), scores[q].tolist(), strict=True)]


def test_equal_rankings_are_equal_bytes_whatever_the_file_is_called(tmp_path: Path) -> None:
    hits = hits_of([[(0, 2.0), (1, 1.0)]])
    for name in ("one.run.gz", "another.run.gz"):
        write_run(tmp_path / name, ["q"], ["a", "b"], hits, tag="t")
    assert (tmp_path / "one.run.gz").read_bytes() == (tmp_path / "another.run.gz").read_bytes()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("bad", ["two words", "", "tab\tbed", "line\nbreak", " x", "no\u00a0break"])
def test_ids_with_whitespace_are_refused(tmp_path: Path, bad: str) -> None:
    hits = hits_of([[(0, 1.0)]])
    with pytest.raises(ValueError, match=r"doc_ids.*whitespace"):
        write_run(tmp_path / "x.run", ["q"], [bad], hits, tag="t")
    with pytest.raises(ValueError, match=r"query_ids.*whitespace"):
        write_run(tmp_path / "x.run", [bad], ["a"], hits, tag="t")
    with pytest.raises(ValueError, match="tag"):
        write_run(tmp_path / "x.run", ["q"], ["a"], hits, tag=bad)
    with pytest.raises(ValueError, match="ids"):
        check_ids(["fine", bad], "ids")
    assert not list(tmp_path.iterdir())


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        check_ids(["\ud800"], "ids")


def test_rows_and_query_ids_must_agree(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 entries for 1 rows"):
        write_run(tmp_path / "x.run", ["q1", "q2"], ["a"], hits_of([[(0, 1.0)]]), tag="t")


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("q Q0 a 1 1.0 t\nq Q0 b 2 1.0\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.run:2: a run file has six columns, this line has 5"):
        read_run(path)
    path.write_text("q Q0 a 1 high t\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.run:1: score 'high'"):
        read_run(path)
    write_run(tmp_path / "y.run.gz", ["q"], ["a"], hits_of([[(0, math.pi)]]), tag="t")
    data = (tmp_path / "y.run.gz").read_bytes()
    (tmp_path / "y.run.gz").write_bytes(data[:-6])
    with pytest.raises(ValueError, match=r"y\.run\.gz is damaged or cut short"):
        read_run(tmp_path / "y.run.gz")
