"""Members in real tmux panes: each is another clew, started by the tmux server beside its lead."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.command import Place, Serve
from e2e.test_copy import READY, InTmux, needs_tmux
from e2e.test_team_command import agent, deferred, send
from fakes.model_server import ModelServer

pytestmark = needs_tmux
LEAD = "LEADGOES"
SCOUT = "You are scout, a member of the team blue"
Come = Callable[..., tuple[InTmux, Place, ModelServer]]


def of_lead(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"match": LEAD, "calls": list(calls)} if calls else {"match": LEAD, "text": text}


def of_scout(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"match": SCOUT, "calls": list(calls)} if calls else {"match": SCOUT, "text": text}


CREATE = of_lead(deferred("TeamCreate", team_name="blue"))


@pytest.fixture
def come(serve: Serve) -> Iterator[Come]:
    present: list[InTmux] = []

    def comes(*replies: dict[str, Any], place: Place | None = None, args: tuple[str, ...] = ()) -> Any:
        server: Any = None
        if place is None:
            place, server = serve({"replies": list(replies), "last": {"text": "fine"}})
            place.clew_home.mkdir(parents=True)
            settings = {"fastModel": "none", "teams": {"backend": "tmux"}}
            (place.clew_home / "settings.json").write_text(json.dumps(settings))
        here = InTmux(place, f"clewteam{len(present)}", *args)
        present.append(here)
        here.person.sees(READY)
        return here, place, server

    yield comes
    for here in present:
        here.leave()


def team(place: Place) -> dict[str, Any]:
    done = place.run("team", "show", "blue", "--json")
    return json.loads(done.out) if done.code == 0 else {"team": {"members": []}, "mail": [], "work": []}


def standing(place: Place, name: str = "scout") -> str:
    return next((row["standing"] for row in team(place)["team"]["members"] if row["name"] == name), "")


def roster(place: Place, name: str = "scout") -> dict[str, Any]:
    told = json.loads((place.clew_home / "teams" / "blue" / "team.json").read_text())
    return next(member for member in told["members"] if member["name"] == name)


def process_of(place: Place) -> int:
    return int(roster(place)["process"].split()[0])


def mail(place: Place, sender: str, kind: str = "chat") -> list[tuple[str, str]]:
    return [
        (one["text"], one["became"]) for one in team(place)["mail"] if (one["sender"], one["kind"]) == (sender, kind)
    ]


def test_a_member_in_a_pane_works_writes_and_gets_mail(come: Come) -> None:
    here, place, server = come(
        of_scout(send("lead", "seen all")),
        of_scout(text="done"),
        CREATE,
        of_lead(agent("scout")),
        of_lead(text="started"),
    )
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: mail(place, "scout") == [("seen all", "delivered")])
    here.person.until(lambda: standing(place) == "idle")
    assert "scout" in here.tmux("list-windows", "-F", "#{window_name}")
    first = next(request for request in server.requests if SCOUT in json.dumps(request.body))
    assert json.dumps(first.body).count("TASK scout") == 1
    assert {"TaskList", "ShutdownReply"} <= {tool["name"] for tool in first.body["tools"]}
    assert not (place.clew_home / "teams" / "blue" / "start" / "scout.json").exists()
