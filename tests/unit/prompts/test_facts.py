"""Facts about the place: git only when trusted, never slow."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.prompts import system_prompt as facts_module
from clew.prompts.system_prompt import FactsProbe
from clew.system.clock import ManualClock

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    steps = [
        ["init", "-q", "-b", "trunk"],
        ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"],
    ]
    for step in steps:
        subprocess.run(["git", *step], cwd=root, check=True, env={**ENV, "HOME": str(tmp_path)})
    return root


def probe(root: Path, *, trusted: bool) -> FactsProbe:
    return FactsProbe(cwd=root, project_root=root, trusted=trusted, env=ENV, clock=ManualClock(1_700_000_000))


def test_facts_of_a_trusted_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_module, "GIT_PATIENCE_S", 30.0)
    facts = probe(repository, trusted=True).finish()
    assert facts.git == "branch trunk, no uncommitted changes"
    assert facts.cwd == str(repository)
    assert facts.date.startswith("2023-11-1")
    assert facts.platform
    assert facts.shell is not None
    assert facts.shell.path.endswith("/bash")
    assert facts.shell.version[:1].isdigit()


def test_before_trust_git_is_not_looked_at(repository: Path) -> None:
    assert probe(repository, trusted=False).finish().git == ""


def test_outside_of_a_repository(tmp_path: Path) -> None:
    assert probe(tmp_path, trusted=True).finish().git == ""


def test_a_slow_status_is_left_out(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_module, "GIT_PATIENCE_S", 0.0)
    assert probe(repository, trusted=True).finish().git in ("branch trunk", "branch trunk, no uncommitted changes")


def test_giving_up_leaves_no_process(repository: Path) -> None:
    started = probe(repository, trusted=True)
    started.close()
    assert started._status is not None
    assert started._status._process.returncode is not None
