"""Tables, verdicts, the overview and comparisons, on results made up for the purpose."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from zerda_bench.eval.compare import compare
from zerda_bench.eval.overview import newest, overview_csv, overview_markdown, read_results
from zerda_bench.eval.results import PER_QUERY_SCHEMA, SCHEMA, SCHEMA_VERSION, Result, ResultPaths
from zerda_bench.eval.tables import csv_table, result_markdown, verdict

MEASURES = ["nDCG@10", "AP"]


def result(values: dict[str, tuple[float, float]], dataset: str = "tiny", content: str = "aa") -> Result:
    table = [
        {
            "variant": name,
            "kind": "leg" if name in ("bm25", "dense") else "fusion",
            "mean": dict(zip(MEASURES, means, strict=True)),
        }
        for name, means in values.items()
    ]
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "run_id": f"x-{content}",
        "created": "2026-01-01T00:00:00+00:00",
        "command": f"zerda-bench run {dataset}",
        "dataset": {
            "name": dataset,
            "content_hash": content,
            "counts": {"documents": 9, "queries": 3, "judged_queries": 2, "judgments": 5},
            "sample": None,
        },
        "analyzer": {"name": "zerda", "version": 1},
        "bm25": {"k1": 1.5, "b": 0.75},
        "embedder": {"name": "lsa", "version": "1"},
        "measures": MEASURES,
        "table": table,
    }
    return Result(document)


def write(one: Result, root: Path, per_query: dict | None = None) -> Path:
    paths = ResultPaths.of(root, one.dataset, one.run_id)
    paths.folder.mkdir(parents=True, exist_ok=True)
    paths.result.write_text(json.dumps(one.document), encoding="utf-8")
    if per_query is not None:
        document = {"schema": PER_QUERY_SCHEMA, "schema_version": 1, "run_id": one.run_id, **per_query}
        paths.per_query.write_bytes(gzip.compress(json.dumps(document).encode()))
    return paths.result


WINS = result({"rrf(k=60)": (0.5, 0.2), "bm25": (0.4, 0.3), "dense": (0.3, 0.1), "zerda": (0.35, 0.3)})
LOSES = result({"bm25": (0.4, 0.3), "dense": (0.3, 0.1), "zerda": (0.35, 0.3)}, content="bb")


def test_rows_by_first_measure_then_name() -> None:
    tied = result({"zerda": (0.4, 0.0), "bm25": (0.4, 0.1), "isr": (0.5, 0.1), "borda": (0.4, 0.2)})
    assert [row.variant for row in tied.rows] == ["isr", "bm25", "borda", "zerda"]


def test_verdicts_are_honest() -> None:
    assert verdict(WINS) == (
        "The best fusion, rrf(k=60) (0.5000), beats the best single leg, bm25 (0.4000), on nDCG@10 by 0.1000 (25.0 %). "
        "1 of 2 fusion variants lose to bm25 alone; the default, zerda (0.3500), loses to it by 0.0500 (12.5 %)."
    )
    assert verdict(LOSES).startswith(
        "No fusion beats the best single leg, bm25 (0.4000), on nDCG@10: the best, zerda (0.3500), is behind by 0.0500"
    )
    assert "1 of 1 fusion variants lose" in verdict(LOSES)
    assert "equals it" in verdict(result({"bm25": (0.4, 0.0), "dense": (0.1, 0.0), "isr": (0.4, 0.0)}))
    assert verdict(result({"bm25": (0.4, 0.0)})) == "No fusion was measured; the best single leg on nDCG@10 is bm25."
    assert "%" not in verdict(result({"bm25": (0.0, 0.0), "dense": (0.0, 0.0), "isr": (0.1, 0.0)}))


def test_markdown_marks_the_best_and_the_legs() -> None:
    lines = result_markdown(WINS).splitlines()
    assert lines[0] == "| variant | nDCG@10 | AP |"
    assert lines[2] == "| `rrf(k=60)` | **0.5000** | 0.2000 |"
    assert lines[3] == "| *bm25 (single leg)* | 0.4000 | **0.3000** |"
    assert lines[4] == "| `zerda` | 0.3500 | **0.3000** |"


def test_csv_keeps_every_digit() -> None:
    exact = result({"bm25": (1 / 3, 0.1), "dense": (0.1, 0.1), "convex(norm=tmm,alpha=0.5)": (0.5, 2 / 3)})
    rows = list(csv.DictReader(io.StringIO(csv_table(exact))))
    assert [row["variant"] for row in rows] == ["convex(norm=tmm,alpha=0.5)", "bm25", "dense"]
    assert [row["kind"] for row in rows] == ["fusion", "leg", "leg"]
    assert float(rows[1]["nDCG@10"]) == 1 / 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON, or cut short"),
        ("[]", "holds no JSON object"),
        ("{}", "is no result file of zerda-bench"),
        (json.dumps({"schema": SCHEMA, "schema_version": 99}), "schema version 99; this zerda-bench reads 1"),
        (json.dumps({"schema": SCHEMA, "schema_version": 1}), "it lacks run_id"),
        (json.dumps(LOSES.document | {"measures": ["nDCG@5"]}), "its table does not fit its measures"),
    ],
)
def test_other_and_damaged_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        Result.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("pydocs", "pydocs"),
        ("beir/scifact/test", "beir-scifact-test"),
        ("../../etc", "etc"),
        ("عربي", "عربي"),
        ("a b:c", "a-b-c"),
        ("..", "dataset"),
    ],
)
def test_folders_of_collections(name: str, folder: str) -> None:
    assert ResultPaths.of("results", name, "x").folder == Path("results") / folder


def test_the_overview_page(tmp_path: Path) -> None:
    write(WINS, tmp_path)
    bad = result({"bm25": (0.4, 0.3), "dense": (0.3, 0.1), "zerda": (0.35, 0.3)}, dataset="arabic", content="bb")
    write(bad, tmp_path)
    write(result({"bm25": (0.4, 0.3)}, dataset="leg", content="cc"), tmp_path)
    (tmp_path / "asv").mkdir()
    (tmp_path / "asv" / "machine.json").write_text('{"version": 1}', encoding="utf-8")
    page = overview_markdown(read_results(tmp_path), tmp_path)
    assert "| arabic | 9 | 2 | nDCG@10 | `bm25` | 0.4000 | `zerda` | 0.3500 | -0.0500 | 0.3500 | -0.0500 |" in page
    assert "| tiny | 9 | 2 | nDCG@10 | `bm25` | 0.4000 | `rrf(k=60)` | 0.5000 | +0.1000 | 0.3500 | -0.0500 |" in page
    assert "| leg | 9 | 2 | nDCG@10 | `bm25` | 0.4000 | - | - | - | - | - |" in page
    assert "- arabic: 1 of 1 fusion variants lose to `bm25` on nDCG@10; **no fusion beats it**; the default" in page
    assert "| tiny | `zerda-bench run tiny` | [x-aa](tiny/x-aa.json) |" in page
    assert len(list(csv.reader(io.StringIO(overview_csv(read_results(tmp_path)))))) == 4


def test_the_overview_shows_the_newest_of_runs_by_one_command(tmp_path: Path) -> None:
    write(WINS, tmp_path)
    later = Result(copy.deepcopy(WINS.document) | {"run_id": "x-later", "created": "2026-02-01T00:00:00+00:00"})
    write(later, tmp_path)
    found = read_results(tmp_path)
    assert len(found) == 2
    assert [one.run_id for one in newest(found)] == ["x-later"]


def test_overview_of_nothing_and_of_damage(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no results; zerda-bench run writes them"):
        read_results(tmp_path)
    (tmp_path / "r.json").write_text('{"schema": ', encoding="utf-8")
    with pytest.raises(ValueError, match=r"r\.json is no JSON"):
        read_results(tmp_path)


PER_QUERY = {
    "query_ids": ["q1", "q2"],
    "values": {
        "bm25": {"nDCG@10": [0.4, 0.4], "AP": [0.3, 0.3]},
        "dense": {"nDCG@10": [0.6, 0.0], "AP": [0.1, 0.1]},
        "zerda": {"nDCG@10": [0.7, 0.0], "AP": [0.3, 0.3]},
    },
}


def test_two_variants_of_one_result(tmp_path: Path) -> None:
    path = write(LOSES, tmp_path, PER_QUERY)
    read = Result.read(path)
    first, second = compare(read, read, ["bm25", "zerda"])
    assert (first.measure, first.first_mean, first.second_mean) == ("nDCG@10", 0.4, 0.35)
    assert first.difference == pytest.approx(-0.05)
    assert (first.wins, first.ties, first.losses) == (1, 0, 1)
    assert (second.measure, second.wins, second.ties, second.losses) == ("AP", 0, 2, 0)


def test_two_results_pair_queries_by_id_whatever_their_order(tmp_path: Path) -> None:
    """G16: align by query id."""
    one = Result.read(write(LOSES, tmp_path / "one", PER_QUERY))
    shuffled = {
        "query_ids": PER_QUERY["query_ids"][::-1],
        "values": {v: {m: x[::-1] for m, x in t.items()} for v, t in PER_QUERY["values"].items()},
    }
    other = Result.read(write(LOSES, tmp_path / "other", shuffled))
    lines = compare(one, other)
    assert [(line.first, line.measure) for line in lines] == [(v, "nDCG@10") for v in ("bm25", "zerda", "dense")]
    assert all((line.wins, line.ties, line.losses) == (0, 2, 0) for line in lines)
    assert [line.measure for line in compare(one, other, ["zerda"])] == MEASURES
    assert [line.measure for line in compare(one, other, measures=["AP"])] == ["AP"] * 3


def test_comparing_without_values_by_query(tmp_path: Path) -> None:
    read = Result.read(write(LOSES, tmp_path))
    assert {line.wins for line in compare(read, read)} == {None}


@pytest.mark.parametrize(
    ("other", "variants", "measures", "message"),
    [
        (WINS, [], [], r"different data: tiny \(bb\) and tiny \(aa\)"),
        (LOSES, ["rrf(k=60)"], [], r"variant 'rrf\(k=60\)' is not in result x-bb; it holds: bm25, zerda, dense"),
        (LOSES, ["bm25", "dense", "zerda"], [], "at most two variants"),
        (LOSES, [], ["P@5"], "measure 'P@5' is not in both results; they share: nDCG@10, AP"),
        (result({"isr": (0.1, 0.1)}, content="bb"), [], [], "no variant in common"),
    ],
)
def test_comparisons_that_make_no_sense(other, variants, measures, message) -> None:
    with pytest.raises(ValueError, match=message):
        compare(LOSES, other, variants, measures)


def test_values_by_query_of_another_run_are_refused(tmp_path: Path) -> None:
    path = write(LOSES, tmp_path, PER_QUERY | {"run_id": "other"})
    with pytest.raises(ValueError, match="belongs to run other"):
        Result.read(path).per_query()
    per_query = ResultPaths(path.parent, LOSES.run_id).per_query
    per_query.write_bytes(per_query.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged or cut short"):
        Result.read(path).per_query()
