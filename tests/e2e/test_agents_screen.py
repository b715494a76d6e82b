"""Agents on the real screen: progress under a call, the list in the footer, the view of one, its end, and a resume."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

DOWN, UP = "\x1b[B", "\x1b[A"
WAIT = "touch child-works; while [ ! -e stop ]; do sleep 0.05; done"


def agent(task: str, **more: Any) -> dict[str, Any]:
    return {"call": "Agent", "arguments": {"description": task, "prompt": f"TASK {task}", **more}}


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"call": "Bash", "arguments": {"command": command}}]}


def working_on(task: str) -> str:
    """What stands in the requests of this child alone."""
    return f'"text":"TASK {task}'


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    present: list[Any] = []

    def comes(script: list[dict[str, Any]], *args: str) -> tuple[ScreenPerson, Place, ModelServer]:
        server = ModelServer(script)
        server.__enter__()
        place = Place(tmp_path, server.url)
        present.append(ScreenPerson(place, "--permission-mode", "bypassPermissions", *args))
        present.append(server)
        return present[-2], place, server

    yield comes
    for one in reversed(present):
        one.leave() if isinstance(one, ScreenPerson) else one.__exit__(None, None, None)


def notices(place: Place) -> list[str]:
    return [task for entry in place.entries() for task in entry.get("notices", [])]


def test_bs_7_an_agent_is_viewed_and_stopped_and_one_notice_tells_of_it(come: Any) -> None:
    """BS-3 and BS-7, with the log of the child read from disk."""
    person, place, server = come(
        [
            {"calls": [agent("count files", run_in_background=True)]},
            {"match": working_on("count files"), **bash(WAIT)},
            {"text": "it works beside us"},
            {"text": "so it was stopped"},
        ]
    )
    person.sees("F1 help")
    person.type("count them\r")
    person.sees("it works beside us")
    person.until(lambda: (place.project / "child-works").exists())
    person.sees('general-purpose "count files"')
    person.type(DOWN + DOWN + "\r")
    person.sees("TASK count files")
    assert not any("it works beside us" in row for row in person.rows)
    person.type("x")
    person.until(lambda: len(notices(place)) == 1)
    person.type(UP + "\r")
    person.sees("so it was stopped")
    person.sees("was stopped by you")
    person.sees("goes on: Agent")
    assert len(notices(place)) == 1
    asked = server.requests[-1].raw.decode()
    assert asked.count("<status>killed</status>") == 1
    person.leave()


def test_progress_under_a_call_and_the_same_lines_after_a_resume(come: Any) -> None:
    person, place, _server = come(
        [
            {"calls": [agent("sort out")]},
            {"match": working_on("sort out"), **bash(WAIT)},
            {"match": working_on("sort out"), "text": "sorted"},
            {"text": "that is all"},
        ]
    )
    person.sees("F1 help")
    person.type("sort\r")
    person.until(lambda: (place.project / "child-works").exists())
    person.sees("Bash touch child-works")
    person.sees("tokens ·")
    (place.project / "stop").touch()
    person.sees("that is all")
    ended = 'agent general-purpose "sort out" has finished'
    person.sees(ended)
    person.leave()
    again = ScreenPerson(place, "-c")
    try:
        again.sees("that is all")
        again.sees(ended)
    finally:
        again.leave()


def test_bs_6_a_fork_shows_its_directive_once_after_what_it_inherited(come: Any) -> None:
    person, place, _server = come(
        [
            {"text": "noted"},
            {"match": "Directive: count the directories", **bash(WAIT)},
            {"text": "counted"},
        ]
    )
    person.sees("F1 help")
    person.type("remember the zebra\r")
    person.sees("noted")
    person.type("/fork count the directories\r")
    person.until(lambda: (place.project / "child-works").exists())
    person.sees("works in the background")
    person.type(DOWN + DOWN + "\r")
    person.until(lambda: not any("works in the background" in row for row in person.rows))
    person.until(lambda: sum("count the directories" in row for row in person.rows[:-5]) == 1)
    assert any("remember the zebra" in row for row in person.rows)
    assert not any("You are a fork" in row for row in person.rows)
    (place.project / "stop").touch()
