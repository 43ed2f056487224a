"""The description of machine and process that every result carries."""

from __future__ import annotations

import getpass
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from zerda_bench.eval.environment import cpu_model, environment, git_revision


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_it_names_what_results_depend_on() -> None:
    found = environment()
    assert found["packages"]["numpy"] == np.__version__
    assert found["packages"]["ir-measures"] == importlib.metadata.version("ir-measures")
    assert found["packages"]["zerda-bench"]
    assert found["cpu"]
    assert found["usable_cores"] >= 1
    assert found["numba"]["threads"] >= 1
    assert any(pool["user_api"] == "blas" for pool in found["blas"])
    assert platform.python_version() in found["python"]


def test_it_is_json_and_the_same_twice() -> None:
    assert json.loads(json.dumps(environment())) == environment()


def test_it_names_no_host_user_or_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "some-host")
    text = json.dumps(environment())
    assert "some-host" not in text
    assert str(Path.home()) not in text
    assert os.getcwd() not in text
    user = getpass.getuser()
    if len(user) > 4:
        assert user not in text


def test_settings_that_matter_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    settings = environment()["settings"]
    assert settings["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in settings


def test_the_processor_is_known_by_its_model_or_at_least_its_kind(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel\t\t: 2\nmodel name\t: Fast 9000\n", encoding="utf-8")
    assert cpu_model(tmp_path / "cpuinfo") == "Fast 9000"
    assert cpu_model(tmp_path / "absent")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
class TestGitRevision:
    def test_a_checkout_is_clean_until_code_changes(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q")
        package = tmp_path / "package"
        package.mkdir()
        (package / "a.py").write_text("x = 1\n", encoding="utf-8")
        (tmp_path / "results.json").write_text("{}", encoding="utf-8")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "first")
        clean = git_revision(package)
        assert clean is not None
        assert len(clean["revision"]) in (40, 64)
        assert clean["dirty"] is False

        (tmp_path / "results.json").write_text("{1}", encoding="utf-8")
        assert git_revision(package) == clean

        (package / "new.py").write_text("", encoding="utf-8")
        assert git_revision(package) == {**clean, "dirty": True}

    def test_outside_of_a_checkout_there_is_none(self, tmp_path: Path) -> None:
        assert git_revision(tmp_path) is None

    def test_an_installed_package_does_not_take_the_revision_of_what_surrounds_it(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q")
        (tmp_path / "a.py").write_text("", encoding="utf-8")
        (tmp_path / ".gitignore").write_text(".venv\n", encoding="utf-8")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "first")
        installed = tmp_path / ".venv" / "package"
        installed.mkdir(parents=True)
        (installed / "b.py").write_text("", encoding="utf-8")
        assert git_revision(installed) is None

    def test_a_checkout_without_commits_has_none(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q")
        assert git_revision(tmp_path) is None


def test_without_git_there_is_no_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_revision(Path(__file__).parent) is None
