"""Members in real tmux panes: each is another clew, started by the tmux server beside its lead."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clew.teams.pane_life import process_lives
from e2e.command import CLEW, Place, Serve
from e2e.screen_person import ScreenPerson
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
    told = json.loads(done.out) if done.code == 0 else {}
    return {"team": {"members": []}, "mail": [], "work": [], **told}  # what is empty is left out


def standing(place: Place, name: str = "scout") -> str:
    return next((row["standing"] for row in team(place)["team"].get("members", ()) if row["name"] == name), "")


def roster(place: Place, name: str = "scout") -> dict[str, Any]:
    told = json.loads((place.clew_home / "teams" / "blue" / "team.json").read_text())
    return next(member for member in told["members"] if member["name"] == name)


def process_of(place: Place) -> int:
    return int(roster(place)["process"].split()[0])


def mail(place: Place, sender: str, kind: str = "chat") -> list[tuple[str, str]]:
    return [
        (one["text"], one["became"])
        for one in team(place).get("mail", [])
        if (one["sender"], one["kind"]) == (sender, kind)
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


def test_a_member_that_is_killed_is_shown_as_interrupted_and_comes_back_with_its_conversation_and_mail(
    come: Come,
) -> None:
    here, place, server = come(
        of_scout(text="first words"),
        of_scout(send("lead", "back")),
        of_scout(text="rested"),
        CREATE,
        of_lead(agent("scout")),
        of_lead(text="started"),
        of_lead(text="it is idle"),
        of_lead(send("scout", "while you were away")),
        of_lead(text="written"),
    )
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: standing(place) == "idle")
    here.person.until(lambda: mail(place, "scout", "idle") != [] and mail(place, "scout", "idle")[0][1] == "handled")
    session = roster(place)["session"]
    os.kill(process_of(place), signal.SIGKILL)
    here.person.until(lambda: standing(place) == "interrupted")
    here.person.sees("its process is gone")
    here.person.type("write to it\r")
    here.person.until(lambda: mail(place, "lead") == [("while you were away", "stored")])
    here.person.type("/team start scout\r")
    here.person.until(lambda: mail(place, "lead") == [("while you were away", "delivered")])
    here.person.until(lambda: [text for text, _ in mail(place, "scout")] == ["back"])
    assert roster(place)["session"] == session
    bodies = [json.dumps(request.body) for request in server.requests]
    told = [body for body in bodies if SCOUT in body and "while you were away" in body]
    assert "first words" in told[0]
    assert told[0].count("TASK scout") == 1
    assert told[-1].count("while you were away") == 1


def reply_to_stop(**answer: Any) -> dict[str, Any]:
    return {"call": "ShutdownReply", "arguments": answer}


def test_a_member_refuses_to_stop_and_then_agrees_and_its_pane_ends(come: Come) -> None:
    here, place, server = come(
        of_scout(text="ready"),
        of_scout(reply_to_stop(approve=False, reason="not yet")),
        of_scout(text="going on"),
        of_scout(reply_to_stop(approve=True)),
        CREATE,
        of_lead(agent("scout")),
        of_lead(text="started"),
        of_lead(text="it is idle"),
        of_lead(deferred("TeamShutdown", name="scout")),
    )
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: mail(place, "scout", "idle") != [] and mail(place, "scout", "idle")[0][1] == "handled")
    here.person.type("stop it\r")
    here.person.until(lambda: mail(place, "scout", "shutdown_answer") == [("not yet", "handled")])
    here.person.until(lambda: "does not stop yet" in json.dumps(server.requests[-1].body) or standing(place) == "idle")
    here.person.type("/team ask scout\r")
    here.person.until(lambda: standing(place) == "stopped")
    here.person.until(lambda: "scout" not in here.tmux("list-windows", "-F", "#{window_name}"))
    assert len(mail(place, "scout", "shutdown_answer")) == 2


def test_an_approval_in_a_pane_is_answered_by_another_command_and_by_keys_in_the_pane(come: Come) -> None:
    def write(name: str) -> dict[str, Any]:
        return {"call": "Write", "arguments": {"file_path": name, "content": "x"}}

    here, place, _ = come(
        of_scout(write("one.txt")),
        of_scout(write("two.txt")),
        of_scout(text="done"),
        CREATE,
        of_lead(agent("scout")),
    )
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: standing(place) == "waiting")
    here.person.sees("scout waits for you")
    session = roster(place)["session"]
    done = place.run("answer", session, "allow")
    assert done.code == 0, done.err
    here.person.until((place.project / "one.txt").exists)
    pane = roster(place)["pane"]

    def shown() -> str:
        return here.tmux("capture-pane", "-p", "-t", pane)

    here.person.until(lambda: "two.txt" in shown() and "Esc denies" in shown())  # its quiet time is over
    here.tmux("send-keys", "-t", pane, "y")
    here.person.until((place.project / "two.txt").exists)
    here.person.until(lambda: standing(place) == "idle")


def test_a_member_that_is_stopped_at_once_is_gone_with_its_pane(come: Come) -> None:
    here, place, _ = come(of_scout(text="ready"), CREATE, of_lead(agent("scout")))
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: standing(place) == "idle")
    process = roster(place)["process"]
    here.person.type("/team stop scout\r")
    here.person.until(lambda: standing(place) == "stopped")
    assert not process_lives(process)
    assert "scout" not in here.tmux("list-windows", "-F", "#{window_name}")


def test_a_killed_lead_finds_its_living_members_again_and_no_mail_is_lost_or_doubled(come: Come) -> None:
    here, place, server = come(
        of_scout(text="ready"),
        of_scout(send("lead", "answer to one")),
        of_scout(text="rested"),
        CREATE,
        of_lead(agent("scout")),
        of_lead(text="started"),
        of_lead(text="it is idle"),
    )
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: mail(place, "scout", "idle") != [] and mail(place, "scout", "idle")[0][1] == "handled")
    (lead,) = [path.stem for path in place.transcripts() if path.stem != roster(place)["session"]]
    process = roster(place)["process"]
    holder = json.loads(next(place.clew_home.glob(f"projects/*/{lead}.lock")).read_text())["pid"]
    os.kill(holder, signal.SIGKILL)
    assert standing(place) == "idle"
    pane = roster(place)["pane"]
    here.person.until(lambda: "F1" in here.tmux("capture-pane", "-p", "-t", pane))
    here.tmux("send-keys", "-t", pane, "-l", "write to your lead")
    here.tmux("send-keys", "-t", pane, "Enter")
    here.person.until(lambda: mail(place, "scout") == [("answer to one", "stored")])
    again, _, _ = come(place=place, args=("-r", lead))
    again.person.until(lambda: mail(place, "scout") == [("answer to one", "delivered")])
    assert standing(place) == "idle"
    assert roster(place)["process"] == process
    bodies = [json.dumps(request.body) for request in server.requests]
    assert max(body.count("answer to one") for body in bodies if SCOUT not in body) == 1
    again.person.type("/team stop scout\r")
    again.person.until(lambda: standing(place) == "stopped")
    assert not process_lives(process)


def test_without_tmux_around_it_a_lead_opens_a_server_whose_panes_are_a_persons(serve: Serve) -> None:
    place, _ = serve(
        {
            "replies": [
                of_scout({"call": "Write", "arguments": {"file_path": "one.txt", "content": "x"}}),
                of_scout(text="done"),
                CREATE,
                of_lead(agent("scout")),
                of_lead(text="started"),
            ],
            "last": {"text": "fine"},
        }
    )
    place.clew_home.mkdir(parents=True)
    settings = {"fastModel": "none", "teams": {"backend": "tmux"}}
    (place.clew_home / "settings.json").write_text(json.dumps(settings))
    place.env |= {"TMUX_TMPDIR": str(place.home), "SHELL": "/bin/sh"}
    person = ScreenPerson(place)

    def tmux(*args: str) -> str:
        argv = ["tmux", "-S", roster(place)["socket"], *args]
        return subprocess.run(argv, env=person.env, capture_output=True, text=True, check=False, timeout=20).stdout

    try:
        person.sees(READY)
        person.type(f"{LEAD}\r")
        person.until(lambda: standing(place) == "waiting")
        session = roster(place)["session"]
        tmux("new-window", "-d", CLEW, "answer", session, "allow")
        person.until((place.project / "one.txt").exists)
        person.until(lambda: standing(place) == "idle")
        tmux("kill-server")
        person.until(lambda: standing(place) == "interrupted")
        person.type("/team start scout\r")
        person.until(lambda: standing(place) == "idle")
    finally:
        tmux("kill-server")
        person.leave()


def test_a_team_of_members_in_panes_is_deleted_and_no_other_session_leads_it(come: Come) -> None:
    here, place, server = come(
        of_scout(text="ready"),
        of_scout(reply_to_stop(approve=True)),
        {"match": "SECONDLEAD", "calls": [deferred("TeamCreate", team_name="Blue")]},
        CREATE,
        of_lead(agent("scout")),
        of_lead(text="started"),
        of_lead(text="it is idle"),
        of_lead(deferred("TeamDelete", wait_ms=30_000)),
    )
    here.person.type(f"{LEAD}\r")
    here.person.until(lambda: mail(place, "scout", "idle") != [] and mail(place, "scout", "idle")[0][1] == "handled")
    process = roster(place)["process"]
    assert place.run("-p", "SECONDLEAD").code == 0
    assert "there is a team blue already" in json.dumps(server.requests[-1].body).lower()
    here.person.type("delete it\r")
    here.person.until(lambda: not (place.clew_home / "teams" / "blue").exists())
    assert not process_lives(process)
