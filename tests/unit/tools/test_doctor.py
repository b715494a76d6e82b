"""`clew doctor`: live findings, broken settings survived, no key ever shown."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

import pytest

from clew.cli.sub import doctor
from clew.parts.doctor import checks as doctor_checks
from clew.system import search_binary
from clew.system.sandbox.promises import promises
from clew.system.sandbox.status import SandboxStatus, SandboxTrial


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "clew_home"
    path.mkdir(mode=0o700)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("CLEW_HOME", str(path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "CANARY-KEY")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")  # doctor asks the server of the model
    monkeypatch.chdir(project)
    return path


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert doctor.run(argparse.Namespace(json=True, probe=None, clean_worktrees=False)) == 0
    answer = json.loads(capsys.readouterr().out)
    return {check["name"]: check for check in answer["checks"]}


def test_everything_is_examined(home: Path, capsys: pytest.CaptureFixture[str]):
    checks = report(capsys)
    names = [
        "python",
        "bash",
        "git",
        "sandbox",
        "search",
        "terminal",
        "clipboard",
        "home",
        "settings",
        "providers",
        "model",
        "lsp",
        "mcp",
        "trust",
        "skills",
        "attach",
    ]
    assert list(checks) == names
    assert checks["home"]["state"] == "ok"
    assert checks["trust"]["data"]["trusted"] is False
    assert "anthropic" in checks["providers"]["data"]["ready"]
    sandbox = checks["sandbox"]["data"]
    assert sandbox["enforced"] is bool(sandbox["kind"])
    assert all(isinstance(held, bool) for attempt in sandbox["self_test"] for held in attempt["checks"].values())


def test_what_the_sandbox_promises_is_printed(home: Path, capsys: pytest.CaptureFixture[str]):
    sandbox = report(capsys)["sandbox"]
    if not sandbox["data"]["enforced"]:
        pytest.skip("no sandbox holds on this machine")
    chosen = sandbox["data"]["self_test"][-1]
    told = promises(chosen["kind"], namespaces=chosen["namespaces"], guards=chosen["guards"])
    assert set(chosen["checks"]) == set(told)
    assert all(f"- {words}" in sandbox["details"] for words in told.values())


def test_a_promise_that_does_not_hold_is_named(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    tried = SandboxTrial(kind="landlock", namespaces=False, checks={"starts": True, "no_tcp": False})
    monkeypatch.setattr(doctor_checks, "probe_now", lambda: SandboxStatus(why="no sandbox held here", tried=(tried,)))
    details = report(capsys)["sandbox"]["details"]
    assert "Landlock alone: these promises did NOT hold" in details
    assert "- no TCP connection leaves" in details
    assert "- commands run" not in details


def test_the_search_is_probed(home: Path, capsys: pytest.CaptureFixture[str]):
    """RG-6: mode, path, version and a live result."""
    search = report(capsys)["search"]["data"]
    assert search["working"] is True
    assert search["mode"] in ("bundled", "system", "python")
    assert search["mode"] == "python" or os.path.isabs(search["path"])
    assert search["version"]


def test_no_search_program_is_degraded_not_broken(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """RG-2."""
    note = "no ripgrep found; install it"
    monkeypatch.setattr(doctor_checks, "choose", lambda *_a, **_k: search_binary.SearchBinary("python", "", note))
    search = report(capsys)["search"]
    assert (search["state"], search["data"]["working"]) == ("warning", True)
    assert search["summary"].startswith("degraded: python")


def test_a_search_program_that_does_not_work_is_a_problem(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    fake = tmp_path / "rg"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(doctor_checks, "choose", lambda *_a, **_k: search_binary.SearchBinary("system", str(fake), ""))
    assert report(capsys)["search"]["state"] == "problem"


def test_a_broken_settings_file_is_named_and_survived(home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "settings.json").write_text('{"model": ')
    checks = report(capsys)
    assert checks["settings"]["state"] == "problem"
    assert str(home / "settings.json") in " ".join(checks["settings"]["details"])
    assert checks["sandbox"]["summary"]


def test_an_open_home_is_weak(home: Path, capsys: pytest.CaptureFixture[str]):
    home.chmod(0o755)
    checks = report(capsys)
    assert checks["home"]["state"] == "warning"
    assert "chmod 700" in checks["home"]["details"][0]


def test_no_sandbox_is_said_loudly(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        doctor_checks, "probe_now", lambda: SandboxStatus(why="the kernel has none; commands ask instead")
    )
    assert report(capsys)["sandbox"]["state"] == "warning"
    (home / "settings.json").write_text('{"sandbox": {"mode": "required"}}')
    assert report(capsys)["sandbox"]["state"] == "problem"
    assert doctor.run(argparse.Namespace(json=False, probe=None, clean_worktrees=False)) == 0
    assert "commands ask instead" in capsys.readouterr().out


def test_a_check_that_fails_is_a_finding(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def explode() -> SandboxStatus:
        raise RuntimeError("boom\x1b[31m")

    monkeypatch.setattr(doctor_checks, "probe_now", explode)
    assert report(capsys)["sandbox"]["state"] == "problem"
    doctor.run(argparse.Namespace(json=False, probe=None, clean_worktrees=False))
    shown = capsys.readouterr().out
    assert "boom" in shown
    assert "\x1b" not in shown


def test_a_vanished_directory_is_a_finding(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "project").rmdir()
    try:
        assert report(capsys)["trust"]["state"] == "problem"
    finally:
        os.chdir(tmp_path)


def test_keys_are_never_shown(home: Path, capsys: pytest.CaptureFixture[str]):
    for as_json in (True, False):
        doctor.run(argparse.Namespace(json=as_json, probe=None, clean_worktrees=False))
        assert "CANARY" not in capsys.readouterr().out
