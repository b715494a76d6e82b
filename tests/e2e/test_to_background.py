"""Ctrl-B: a command that runs goes on in the background, and the turn goes on without it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

CTRL_B = "\x02"
COMMAND = "echo one; touch ran; while [ ! -e stop ]; do sleep 0.05; done; echo two; touch over"
SCRIPT = [
    {"calls": [{"call": "Bash", "id": "call_run", "arguments": {"command": COMMAND}}]},
    {"text": "went on"},
    {"calls": [{"call": "BashOutput", "id": "call_look", "arguments": {"bash_id": "bash_1"}}]},
    {"text": "all of it"},
]


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    present: list[ScreenPerson] = []
    with ModelServer(SCRIPT) as server:
        place = Place(tmp_path, server.url)

        def comes(*args: str) -> tuple[ScreenPerson, Place, ModelServer]:
            present.append(ScreenPerson(place, "--permission-mode", "bypassPermissions", *args))
            return present[-1], place, server

        yield comes
        for person in present:
            person.leave()


def result(server: ModelServer, call_id: str) -> str:
    parts = [part for message in server.requests[-1].body["messages"] for part in message["content"]]
    return next(part["content"] for part in parts if part.get("tool_use_id") == call_id)


@pytest.mark.parametrize("front", [(), ("--plain",)], ids=["screen", "plain"])
def test_ctrl_b_sends_a_running_command_to_the_background(come: Any, front: tuple[str, ...]) -> None:
    person, place, server = come(*front)
    person.sees("/help" if front else "F1 help")
    person.type("run it\r")
    person.until(lambda: (place.project / "ran").exists())
    person.type(CTRL_B)
    person.sees("went on")
    assert result(server, "call_run").splitlines()[0] == "one"
    assert "it runs on as bash_1" in result(server, "call_run")
    assert not (place.project / "over").exists()
    started = [entry["event"] for entry in place.entries() if "task.started" in str(entry.get("event"))]
    assert [event["task_id"] for event in started] == ["bash_1"]

    (place.project / "stop").touch()
    person.until(lambda: "task.ended" in place.transcripts()[0].read_text())
    person.type("and now\r")
    person.sees("all of it")
    assert result(server, "call_look") == "two\nbash_1 exited with code 0."
    person.type(CTRL_B)
    person.sees("nothing runs that could go on in the background")
