"""Teams through the real command: a run that makes one, what `clew team` tells of it, kills and resumes."""

import json
from typing import Any

from e2e.command import Serve


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
