"""The debug log through the real command: a link to the newest one, and a switch that leaves none."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.command import Place
from fakes.model_server import ModelServer

SERVER = str(Path(__file__).parents[1] / "fakes" / "mcp_server.py")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ModelServer({"replies": [], "last": {"text": "ok then"}}) as server:
        place = Place(tmp_path, server.url)
        place.clew_home.mkdir()
        said = {"command": "sh", "args": ["-c", f"echo ahoy; exec {sys.executable} {SERVER}"]}
        (place.clew_home / "mcp.json").write_text(json.dumps({"mcpServers": {"harbour": said}}))
        yield place


def ran(place: Place, **env: str) -> str:
    done = place.run("-p", "hi", "--mcp-wait", "30", "--output-format", "json", env=env)
    assert done.code == 0, done.err
    return done.result["session_id"]


def test_latest_is_the_log_that_was_written_last(place: Place) -> None:
    latest = place.clew_home / "debug" / "latest"
    for session in (ran(place), ran(place)):
        assert "mcp harbour no message" in (place.clew_home / "debug" / f"{session}.log").read_text()
    assert os.readlink(latest) == f"{session}.log"
    assert "ahoy" in latest.read_text()
    assert sorted(path.suffix for path in latest.parent.iterdir()) == ["", ".log", ".log"], "and nothing is left behind"


def test_what_somebody_put_in_its_place_is_left_alone(place: Place) -> None:
    latest = place.clew_home / "debug" / "latest"
    latest.parent.mkdir(mode=0o700)
    latest.write_text("mine")
    session = ran(place)
    assert latest.read_text() == "mine"
    assert "ahoy" in (latest.parent / f"{session}.log").read_text()


def test_it_can_be_switched_off(place: Place) -> None:
    ran(place, CLEW_DEBUG_LOG="0")
    (place.clew_home / "settings.json").write_text('{"debugLog": false}')
    ran(place)
    assert not (place.clew_home / "debug").exists()
