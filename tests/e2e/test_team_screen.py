"""A team on the real screen: what its calls did, a member's deeds and mail, the footer, the dialog and its keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

MEMBER = '"text":"TASK ann'
"""What stands in the requests of the member alone."""


def deferred(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"call": "CallTool", "arguments": {"tool": tool, "arguments": arguments}}


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    present: list[Any] = []

    def comes(script: list[dict[str, Any]]) -> tuple[ScreenPerson, Place]:
        server = ModelServer(script)
        server.__enter__()
        place = Place(tmp_path, server.url)
        present.append(server)
        present.append(ScreenPerson(place, "--permission-mode", "bypassPermissions"))
        return present[-1], place

    yield comes
    for one in reversed(present):
        one.leave() if isinstance(one, ScreenPerson) else one.__exit__(None, None, None)


def test_a_team_is_seen_and_its_dialog_acts(come: Any) -> None:
    wait = "touch ann-works; while [ ! -e stop ]; do sleep 0.05; done"
    person, place = come(
        [
            {"calls": [deferred("TeamCreate", team_name="blue")]},
            {"calls": [deferred("TaskCreate", subject="Parse"), deferred("TaskCreate", subject="Build")]},
            {
                "calls": [
                    {"call": "Agent", "arguments": {"description": "ann works", "prompt": "TASK ann", "name": "ann"}}
                ]
            },
            {"match": MEMBER, "calls": [{"call": "TaskUpdate", "arguments": {"taskId": "1", "status": "in_progress"}}]},
            {"match": MEMBER, "calls": [{"call": "Bash", "arguments": {"command": wait}}]},
            {"match": MEMBER, "calls": [{"call": "SendMessage", "arguments": {"to": "lead", "message": "half done"}}]},
            {"match": MEMBER, "text": "nothing left"},
            {"text": "they work"},
            {"text": "I heard"},
            {"text": "I heard again"},
        ]
    )
    person.sees("F1 help")
    person.type("make a team\r")
    person.sees("Made the team blue")
    person.sees("Added #1 Parse, #2 Build")
    person.sees("they work")
    person.until(lambda: (place.project / "ann-works").exists())
    person.sees("ann claimed #1 Parse")
    person.sees("blue: ")
    person.type("/team\r")
    person.sees("Team blue")
    person.sees("1 member, 1 at work")
    person.type("\x1b")
    (place.project / "stop").touch()
    person.sees("ann wrote to lead: half done")
    person.sees("goes on: ann wrote")
    person.sees("ann is idle")
    person.type("/team\r")
    person.sees("half done  [delivered at step")
    person.type("k")
    person.sees("k again ends ann at once")
    person.type("k")
    person.sees("ann has stopped; open again: #1")
    person.type("\x1b")
    shown = "\n".join(person.rows)
    assert "has finished" not in shown
    assert "Used TeamCreate" not in shown
