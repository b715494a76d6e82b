"""Other agents' sessions as the settings say: where they lie, and whether they are shown at all."""

import json
import time
from pathlib import Path

import pytest

from e2e.command import Place

SESSION = "0b7a8f0e-5a3f-4c58-9d0e-2f6f7c1a9b11"


def claude_session(home: Path) -> Path:
    """A session of Claude Code that was just touched."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    common = {"sessionId": SESSION, "timestamp": stamp, "cwd": "/srv/shop", "version": "2.1.0"}
    asked = {"role": "user", "content": "repair the zebra crossing"}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "id": "m", "model": "claude"}
    lines = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": asked, **common},
        {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": said, **common},
    ]
    path = home / "projects" / "-srv-shop" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("command", ["sessions", "recap"])
def test_homes_of_the_settings_are_looked_at(place: Place, tmp_path: Path, command: str) -> None:
    claude_session(tmp_path / "elsewhere")
    assert "zebra" not in place.run(command).out
    homes = json.dumps({"claude_code": str(tmp_path / "elsewhere")})
    assert place.run("config", "set", "foreign.homes", homes).code == 0
    assert "zebra" in place.run(command).out.lower()
    assert "zebra" in place.run("show", SESSION[:8], "--no-pager").out


@pytest.mark.parametrize("command", ["sessions", "recap"])
def test_other_agents_can_be_left_out(place: Place, command: str) -> None:
    claude_session(place.home / ".claude")
    assert "zebra" in place.run(command).out.lower()
    assert "zebra" not in place.run(command, env={"CLEW_FOREIGN_SESSIONS": "off"}).out.lower()
    named = place.run(command, "--agent", "claude_code", env={"CLEW_FOREIGN_SESSIONS": "off"})
    assert "zebra" in named.out.lower(), "asked for by name, it is shown"


def test_a_home_of_nobody_is_named(place: Place, tmp_path: Path) -> None:
    for command in ("sessions", "recap", "show", "export"):
        words = ["x"] if command in ("show", "export") else []
        done = place.run(command, *words, "--home", f"cladue={tmp_path}")
        assert (done.code, len(done.err.splitlines())) == (2, 1), command
        assert "cladue" in done.err
        missing = place.run(command, *words, "--home", "codex=/no/such/place")
        assert (missing.code, len(missing.err.splitlines())) == (2, 1), command


def test_a_home_of_nobody_in_the_settings_is_named(place: Place, tmp_path: Path) -> None:
    assert place.run("config", "set", "foreign.homes", json.dumps({"cladue": str(tmp_path)})).code == 0
    for command in (["sessions"], ["recap"], ["show", "x"], ["ledger", "x"]):
        done = place.run(*command)
        assert (done.code, len(done.err.splitlines())) == (2, 1), command
        assert "cladue" in done.err


def test_limits_are_numbers_from_one(place: Place) -> None:
    done = place.run("sessions", "--limit", "-1")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_file_that_is_not_there_is_called_a_file(place: Place) -> None:
    for command in ("show", "export", "ledger", "recap"):
        done = place.run(command, "notes/missing.jsonl")
        assert done.code == 1
        assert "no such file" in done.err, command
