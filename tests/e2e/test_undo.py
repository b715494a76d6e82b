"""Undo through the real command: in the session, after a resume, in a fork; and nothing of it readable for commands."""

import json
from pathlib import Path

import pytest

from clew.system.sandbox.status import probe_now
from e2e.command import Done, Place
from fakes.model_server import ModelServer


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def play(place: Place, *commands: str, args: tuple[str, ...] = ()) -> tuple[Done, list[str]]:
    """One prompt; the model runs these commands, one after the other. What it was told of each."""
    script = [{"calls": [{"call": "Bash", "arguments": {"command": command}}]} for command in commands]
    with ModelServer([*script, {"text": "ok"}]) as server:
        done = place.run(
            "-p", "go", "--trust", "--permission-mode", "acceptEdits", "--output-format", "json", *args,
            env={"ANTHROPIC_BASE_URL": server.url},
        )  # fmt: skip
        told = [str(request.body["messages"][-1]) for request in server.requests[1:]]
    assert done.result["permission_denials"] == [], done.out
    return done, told


def test_a_fork_and_a_resumed_session_take_back_what_came_before_them(place: Place) -> None:
    kept = place.project / "src" / "a.txt"
    kept.parent.mkdir()
    kept.write_text("precious")
    session = play(place, "rm -r src")[0].result["session_id"]
    assert not kept.exists()
    play(place, "touch later.txt", args=("--resume", session))
    fork = play(place, "touch forked.txt", args=("--resume", session, "--fork-session"))[0].result["session_id"]
    assert fork != session
    back = place.run("rewind", fork, "--to", "1")
    assert back.code == 0, back.out + back.err
    assert kept.read_text() == "precious"
    assert not (place.project / "forked.txt").exists()
    asked = place.run("rewind", fork, "--redo")
    assert asked.code == 1
    assert "the redo deletes src" in asked.err
    assert "add --yes" in asked.err
    assert kept.exists()
    assert place.run("rewind", fork, "--redo", "--yes").code == 0
    assert not kept.exists()
    assert place.run("rewind", session, "--to", "1").code == 0
    assert kept.read_text() == "precious"


def test_a_recap_tells_what_a_rewind_took_back(place: Place) -> None:
    session = play(place, "echo one > a.txt")[0].result["session_id"]
    play(place, "echo two > b.txt", args=("--resume", session))
    assert "b.txt" in place.run("recap", session).out
    assert place.run("rewind", session, "--to", "2").code == 0
    told = place.run("recap", session).out
    assert "a.txt" in told
    assert "b.txt" not in told
    assert place.run("rewind", session, "--redo").code == 0
    assert "b.txt" in place.run("recap", session).out


def test_the_kept_content_is_hidden_from_commands(place: Place) -> None:
    if not probe_now().enforced:
        pytest.skip("this machine enforces no sandbox, so nothing hides it")
    (place.project / "a.txt").write_text("CANARY-31b7")
    store = place.clew_home / "undo"
    look = f"python3 - <<'E'\nimport os\nfor at, _, names in os.walk({str(store)!r}):\n    print('SEEN', at, names)\nE"
    _, told = play(place, "rm a.txt", look, f"grep -r CANARY {json.dumps(str(place.home))[1:-1]}")
    assert store.is_dir()
    assert "SEEN" not in told[1] or "packs" not in told[1], told[1]
    assert "CANARY-31b7" not in told[2]
