"""The command line: what goes to stdout, what to stderr, and how failures end."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny_collection import write_collection
from zerda_bench.eval import cli_run
from zerda_bench.eval.cli import main

FAST = ["--embedder", "lsa(dim=8)", "--depth", "60", "--variant", "rrf(k=60)", "--variant", "zerda"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_collection(tmp_path_factory.mktemp("data") / "tiny")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZERDA_BENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def result(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["run", str(folder), *FAST, "--quiet"]) == 0
    capsys.readouterr()
    (path,) = Path("results/tiny").glob("*.json")
    return path


def fails(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and the one line on stderr; nothing on stdout."""
    code = main(words)
    said = capsys.readouterr()
    assert said.out == ""
    line = said.err.removesuffix("\n")
    assert "\n" not in line
    assert line.startswith("zerda-bench: ")
    return code, line


def test_run_prints_the_table_and_writes_the_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(folder), *FAST]) == 0
    said = capsys.readouterr()
    for expected in ("tiny: 80 documents, 13 judged queries", "bm25 (single leg)", "rrf(k=60)", "nDCG@10", "RR@10"):
        assert expected in said.out
    assert "the best single leg" in said.out.splitlines()[-1]
    assert "note: tiny: 1 judgments name documents" in said.err
    assert "warning: tiny: nDCG@100" in said.err
    assert "written: " in said.err
    names = {path.name for path in Path("results").rglob("*") if path.is_file()}
    (run_id,) = (name.removesuffix(".csv") for name in names if name.endswith(".csv"))
    runs = {f"{slug}.run.gz" for slug in ("bm25", "dense", "rrf-k-60", "zerda")}
    assert names == {f"{run_id}.json", f"{run_id}.csv", f"{run_id}.per-query.json.gz", *runs}


def test_a_second_run_is_not_measured_again_unless_forced(
    folder: Path, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = result.read_bytes()
    assert main(["run", str(folder), *FAST]) == 0
    said = capsys.readouterr()
    assert "measured before" in said.err
    assert "bm25 (single leg)" in said.out
    assert result.read_bytes() == before
    assert main(["run", str(folder), *FAST, "--force", "--quiet"]) == 0
    assert result.read_bytes() != before  # other times
    assert capsys.readouterr().err == ""


def test_json_is_one_document_and_nothing_else(folder: Path, result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["run", str(folder), *FAST],
        ["run", str(folder), *FAST, "--force"],
        ["show", str(result)],
        ["show", "results"],
        ["compare", str(result), "--variant", "bm25", "--variant", "zerda"],
        ["datasets"],
        ["variants"],
        ["warmup"],
    ):
        assert main([*words, "--json"]) == 0
        assert isinstance(json.loads(capsys.readouterr().out), dict), words


def test_trec_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs.tsv").write_text("d1\tfox and dog\nd2\tcat\n", encoding="utf-8")
    Path("topics.tsv").write_text("q1\tfox\nq2\tcat\n", encoding="utf-8")
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    words = ["--docs", "docs.tsv", "--queries", "topics.tsv", "--qrels", "qrels.txt"]
    assert main(["run", *words, "--variant", "bm25", "--measure", "RR@10", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["results"]
    assert report["result"]["table"][0]["mean"] == {"RR@10": 1.0}
    assert report["result"]["command"] == (
        "zerda-bench run --docs docs.tsv --queries topics.tsv --qrels qrels.txt --analyzer zerda --variant bm25 "
        "--measure RR@10"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--variant", "rff"], "unknown fusion method 'rff'; there are: zerda"),
        (["--measure", "nDCC@10"], "unknown measure 'nDCC@10'"),
        (["--depth", "0"], "depth must be 1 or greater, got 0"),
        (["--depth", "many"], "--depth"),
        (["--analyzer", "klingon"], "analyzer"),
        (["--embedder", "nothing"], "unknown embedder 'nothing'"),
        (["--k1", "-1"], "k1 must be"),
        (["--threads", "0"], "threads must be 1 or greater"),
        (["--sample", "0"], "sample must be 1 or greater"),
        (["--docs", "x"], "not both"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    folder: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, line = fails(["run", str(folder), *words], capsys)
    assert code == 2
    assert message in line
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "no/such/collection"], 1, "no/such/collection"),
        (["run", "--docs", "x", "--queries", "y"], 2, "missing: --qrels"),
        (["run", "--docs", "x", "--queries", "y", "--qrels", "z", "--variant", "bm25"], 1, "x: cannot be read"),
        (["show", "absent.json"], 1, "absent.json: No such file"),
        (["show", "absent.json", "--csv", "--markdown"], 2, "at most one"),
        (["show", "."], 1, "holds no results"),
        (["compare", "a.json"], 2, "two result files"),
        (["compare", "a.json", "b.json"], 1, "a.json: No such file"),
        (["compare", "a.json", "b.json", "--measure", "what"], 2, "unknown measure"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_failures_are_one_line(words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    got, line = fails(words, capsys)
    assert got == code
    assert message in line


def test_a_folder_that_cannot_be_written_is_found_out_first(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("taken").write_text("a file where a folder is wanted", encoding="utf-8")
    monkeypatch.setattr(
        "zerda_bench.eval.record.execute", lambda *a, **k: pytest.fail("measured before it was checked")
    )
    code, line = fails(["run", str(folder), *FAST, "--quiet", "--output", "taken"], capsys)
    assert code == 1
    assert str(Path("taken") / "tiny") in line


def test_a_full_disk_names_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("zerda_bench.eval.record.write_run", full)
    code, line = fails(["run", str(folder), *FAST, "--quiet"], capsys)
    assert code == 1
    assert "bm25.run.gz: No space left on device" in line
    assert not list(Path("results").rglob("*.json"))


def test_ids_with_blanks_are_refused_only_where_run_files_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs.tsv").write_text("d 1\tfox\nd2\tfox and dog\n", encoding="utf-8")
    Path("topics.tsv").write_text("q1\tfox\n", encoding="utf-8")
    Path("qrels.txt").write_text("q1 0 d2 1\n", encoding="utf-8")
    words = ["run", "--docs", "docs.tsv", "--queries", "topics.tsv", "--qrels", "qrels.txt", "--variant", "bm25", "-q"]
    code, line = fails(words, capsys)
    assert code == 1
    assert "'d 1'" in line
    assert main([*words, "--no-runs"]) == 0


def test_one_bad_collection_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "no/such", str(folder), *FAST, "--quiet", "--json"]) == 1
    said = capsys.readouterr()
    bad, good = json.loads(said.out)["results"]
    assert bad["dataset"] == "no/such"
    assert bad["error"] in said.err
    assert good["result"]["dataset"]["name"] == "tiny"


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "absent.json", "--debug"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert said.splitlines()[-1] == "zerda-bench: absent.json: No such file or directory"


def test_faults_of_our_own_are_called_so(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_run, "_measured", lambda *a, **k: {}["nothing"])
    code, line = fails(["run", str(folder), *FAST], capsys)
    assert code == 1
    assert "internal error: KeyError" in line


def test_an_interrupt_is_130(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_run, "_measured", interrupt)
    assert main(["run", str(folder), *FAST]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_show_prints_the_table_again(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(result)]) == 0
    assert "bm25 (single leg)" in capsys.readouterr().out
    assert main(["show", str(result), "--csv"]) == 0
    assert capsys.readouterr().out == result.with_suffix(".csv").read_text(encoding="utf-8")
    assert main(["show", str(result), "--markdown"]) == 0
    assert "| *bm25 (single leg)* |" in capsys.readouterr().out
    assert main(["show"]) == 0
    assert "collection" in capsys.readouterr().out
    assert main(["show", "results", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Results\n\nWritten by `zerda-bench show results --markdown`")


def test_compare_counts_queries(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(result), "--variant", "bm25", "--variant", "zerda", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["comparisons"]
    assert [line["measure"] for line in lines][:2] == ["nDCG@10", "nDCG@100"]
    assert all(line["wins"] + line["ties"] + line["losses"] == 13 for line in lines)
    assert main(["compare", str(result), str(result)]) == 0
    assert "losses" in capsys.readouterr().out


def test_variants_and_datasets_list_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variants"]) == 0
    said = capsys.readouterr().out
    assert "rrf(k=60)" in said
    assert "Cormack" in said
    assert main(["datasets"]) == 0
    assert "pydocs" in capsys.readouterr().out


def test_warmup_says_how_long_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup"]) == 0
    said = capsys.readouterr().out
    assert "bm25.search" in said
    assert "machine code is kept in" in said


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("zerda-bench ")
    assert main(["run", "--help"]) == 0
    assert "--embedder" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from zerda_bench.eval.cli import main\n"
        "main(['--help'])\n"
        "heavy = {'numpy', 'scipy', 'numba', 'pandas', 'ir_datasets', 'ir_measures', 'rich'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_reader_that_has_enough_is_no_failure_with_a_traceback() -> None:
    code = "import sys; from zerda_bench.eval.cli import main; sys.exit(main(['variants', '--json']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
