"""Teams through the real command: a run that makes one, what `clew team` tells of it, kills and resumes."""

import json
import signal
from pathlib import Path
from typing import Any

from e2e.command import Serve, until


def agent(name: str, **more: Any) -> dict[str, Any]:
    arguments = {"description": f"{name} works", "prompt": f"TASK {name}", "name": name, **more}
    return {"call": "Agent", "arguments": arguments}


def deferred(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"call": "CallTool", "arguments": {"tool": tool, "arguments": arguments}}


def send(to: str, message: str) -> dict[str, Any]:
    return {"call": "SendMessage", "arguments": {"to": to, "message": message}}


def test_a_run_with_a_team_and_what_the_files_tell_afterwards(serve: Serve) -> None:
    scout = "You are scout, a member of the team blue"
    place, _ = serve(
        [
            {"calls": [deferred("TeamCreate", team_name="blue", description="looks around")]},
            {"calls": [deferred("TaskCreate", subject="look"), agent("scout")]},
            {"match": scout, "calls": [{"call": "TaskUpdate", "arguments": {"taskId": "1", "status": "completed"}}]},
            {"match": scout, "calls": [send("lead", "seen all")]},
            {"match": scout, "text": "done"},
            *[{"text": "fine"}] * 4,
        ]
    )
    done = place.run("-p", "go")
    assert done.code == 0, done.err
    shown = place.run("team", "show", "blue", "--json")
    told = json.loads(shown.out)
    assert [(row["name"], row["standing"]) for row in told["team"]["members"]] == [("scout", "idle")]
    assert [(one["sender"], one["to"], one["text"], one["became"]) for one in told["mail"]] == [
        ("scout", "lead", "seen all", "delivered")
    ]
    assert told["work"] == [{"id": 1, "subject": "look", "status": "completed", "owner": "scout"}]
    listed = place.run("team")
    assert "Team blue: looks around" in listed.out
    assert "scout: idle" in listed.out
    wrong = place.run("team", "show", "../blue")
    assert wrong.code == 1
    assert "there is no team '../blue'; teams are blue" in wrong.err
    gone = place.run("team", "delete", "blue")
    assert gone.code == 0
    assert "There is no team" in place.run("team", "list").out


def test_after_kill_9_of_the_lead_the_files_are_true_and_mail_arrives_once(serve: Serve) -> None:
    """The lead has a letter that it never read, a member works on an item, mail waits for that member."""
    scout = "You are scout, a member of the team blue"
    ann = "You are ann, a member of the team blue"
    claim = {"call": "TaskUpdate", "arguments": {"taskId": "1", "status": "in_progress"}}
    waits = {"parts": [{"wait": "for ever"}, {"text": "never"}]}
    place, server = serve(
        {
            "replies": [
                {"calls": [deferred("TeamCreate", team_name="blue")]},
                {"calls": [deferred("TaskCreate", subject="look"), agent("scout"), agent("ann")]},
                {"match": scout, "calls": [claim]},
                {"match": scout, **waits},
                {
                    "match": ann,
                    "parts": [{"wait": "all stand"}, send("lead", "LETTER one"), send("scout", "LETTER two")],
                },
                {"match": ann, **waits},
                waits,
            ],
            "last": {"text": "after the kill"},
        }
    )
    process = place.start("-p", "go")
    until(lambda: len(server.requests) >= 6, process)
    server.release("all stand")
    inbox = place.clew_home / "teams" / "blue" / "inbox"
    until(lambda: stored(inbox / "lead.jsonl") and stored(inbox / "scout.jsonl"), process)
    until(lambda: len(server.requests) >= 7, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    told = json.loads(place.run("team", "show", "blue", "--json").out)
    assert {row["name"]: row["standing"] for row in told["team"]["members"]} == dict.fromkeys(
        ("scout", "ann"), "interrupted"
    )
    assert {mail["text"]: mail["became"] for mail in told["mail"]} == {"LETTER one": "stored", "LETTER two": "stored"}
    first, second = place.run("-c", "-p", "what came?"), place.run("-c", "-p", "and now?")
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert server.requests[-1].raw.decode().count("LETTER one") == 1, "told once"
    told = json.loads(place.run("team", "show", "blue", "--json").out)
    became = {mail["text"]: mail["became"] for mail in told["mail"]}
    assert became == {"LETTER one": "delivered", "LETTER two": "stored"}, "nobody is woken by a restart"
    assert [(item["status"], item["owner"]) for item in told["work"]] == [("pending", "")]


def stored(inbox: Path) -> bool:
    return inbox.exists() and '"letter"' in inbox.read_text()
