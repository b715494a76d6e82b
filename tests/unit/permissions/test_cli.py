"""`clew permissions`: one verdict per line whatever comes in; words for people."""

import argparse
import io
import json
import subprocess
import sys

import pytest

from clew.agents.permits import SavedRules
from clew.cli.sub import permissions
from clew.permissions.trust import TrustStore
from clew.transcript.log.store import SessionStore
from unit.permissions.world import World


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def run(monkeypatch: pytest.MonkeyPatch, data: bytes, *words: str) -> int:
    parser = argparse.ArgumentParser()
    permissions.add_arguments(parser)
    monkeypatch.setattr(sys, "stdin", _Stdin(data))
    return permissions.run(parser.parse_args(words))


def test_check_answers_in_order(
    world: World, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = [
        b'{"id": "a", "command": "ls", "cwd": "workspace root"}',
        b'{"id": 2, "op": "read", "path": "README.md", "cwd": "."}',
        b"",
        b"not json",
        b"[1]",
        b'{"id": "c"}',
        b'{"id": "d", "command": 5}',
        b'{"id": "e", "op": "eat", "path": "x"}',
        b'{"id": "f", "command": "ls", "rules": {"allow": ["Bash("]}}',
        b'{"id": "g", "command": "ls", "mode": "wild"}',
        b'{"id": "h", "command": "rm -rf /"}',
        b'{"id": "i", "command": "\\ud800"}',
        b"\xff\xfe",
        b'{"id": "j", "op": "write", "path": "a\\u0000b"}',
    ]
    assert run(monkeypatch, b"\n".join(lines), "check", "--jsonl") == 0
    out = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [(line["id"], line["verdict"]) for line in out] == [
        ("a", "allow"),
        (2, "allow"),
        (None, "ask"),
        (None, "ask"),
        ("c", "ask"),
        ("d", "ask"),
        ("e", "ask"),
        ("f", "ask"),
        ("g", "ask"),
        ("h", "deny"),
        (None, "ask"),
        (None, "ask"),
        ("j", "deny"),
    ]
    assert all(set(line) == {"id", "verdict", "why", "rule"} and line["why"] for line in out)


def test_a_directory_in_force_outside_the_workspace(world: World) -> None:
    assert world.check(command="ls", cwd=str(world.workspace / "src"))["verdict"] == "allow"
    assert world.check(command="ls", cwd=str(world.outside))["verdict"] == "ask"
    assert world.check(op="read", path="../README.md", cwd=str(world.workspace / "src"))["verdict"] == "allow"


def test_path_cases_use_their_usual_mode(world: World) -> None:
    assert world.check(op="write", path="x.py", cwd="")["verdict"] == "allow"
    assert world.check(op="write", path="x.py", cwd="", mode="default")["verdict"] == "ask"


def test_explain_names_parts_rules_and_offers(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, b"", "explain", "ls && git push origin main") == 0
    out = capsys.readouterr().out
    assert out.startswith("note: this directory is not trusted yet")
    assert "\nask: " in out
    assert "allow ls" in out
    assert "always: Bash(git push origin main)" in out


def test_explain_shows_hidden_characters(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, b"", "explain", "ls \u202ex\x1b[2J") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "note: " in out


def test_bad_usage_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, b"", "check") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(monkeypatch, b"", "explain", "ls", "--allow", "Bash(") == 2
    assert "Bash(" in capsys.readouterr().err


def test_list(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (world.clew_home / "settings.json").write_text('{"permissions": {"deny": ["Bash(git push *)"]}}')
    assert run(monkeypatch, b"", "list") == 0
    out = capsys.readouterr().out
    assert str(world.workspace) in out
    assert "deny       Bash(git push *)" in out
    assert run(monkeypatch, b"", "explain", "git push") == 0
    assert "deny: your rule says deny  [Bash(git push *)]" in capsys.readouterr().out


def test_saved_rules_tell_how_long_they_hold_and_can_be_removed(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = SavedRules(SessionStore(world.clew_home).project_dir(world.workspace))
    saved.path.parent.mkdir(parents=True, exist_ok=True)
    saved.add(("Bash(make test)", "Bash(pytest *)"))
    assert run(monkeypatch, b"", "list") == 0
    listed = capsys.readouterr().out
    assert "Bash(pytest *)  (holds in this project until it is removed)" in listed
    assert str(saved.path) in listed
    assert run(monkeypatch, b"", "remove", "Bash(pytest *)") == 0
    assert [rule.text for rule in saved.load()] == ["Bash(make test)"]
    assert run(monkeypatch, b"", "remove", "Bash(pytest *)") == 1
    assert "is not saved" in capsys.readouterr().err
    assert run(monkeypatch, b"", "remove", "Bash(make test)") == 0
    assert saved.load() == ()


def test_trust_can_be_taken_back(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world.clew_home / "trust.json").unlink()
    TrustStore(world.clew_home).remember(world.workspace)
    assert run(monkeypatch, b"", "untrust", str(world.workspace / "src")) == 0
    assert not TrustStore(world.clew_home).is_trusted(world.workspace)
    assert run(monkeypatch, b"", "untrust") == 1
    assert "was not trusted" in capsys.readouterr().err


def test_a_broken_saved_rule_is_reported(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world.clew_home / "settings.json").write_text('{"permissions": {"allow": ["Bash(git"]}}')
    assert run(monkeypatch, b"", "list") == 2
    assert "Bash(git" in capsys.readouterr().err


def test_the_parser_is_not_loaded_before_the_first_shell_verdict() -> None:
    code = (
        "import sys, clew.permissions.policy, clew.permissions.trust; "
        "sys.exit(any(name.startswith(('tree_sitter', 'clew.permissions.shell')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
