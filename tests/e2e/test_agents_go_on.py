"""Agents that go on in a later process, although what defines them has changed meanwhile, or is gone."""

import json
from pathlib import Path
from typing import Any

from e2e.command import Place, Serve

TELL = {"calls": [{"call": "SendMessage", "arguments": {"to": "bee", "message": "LATER"}}]}


def agent(**more: Any) -> dict[str, Any]:
    given = {"description": "d", "prompt": "TASK", "name": "bee", "subagent_type": "keeper", **more}
    return {"calls": [{"call": "Agent", "arguments": given}]}


def define(place: Place, fields: str, words: str) -> Path:
    path = place.clew_home / "agents" / "keeper.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: keeper\ndescription: keeps\n{fields}---\n{words}\n")
    return path


def started(serve: Serve, fields: str = "", *more: dict[str, Any]) -> tuple[Place, Any, Path]:
    place, server = serve([agent(), {"match": '"text":"TASK', "text": "first"}, {"text": "out"}, TELL, *more])
    path = define(place, fields, "You are the first.")
    assert place.run("-p", "go").out == "out\n"
    return place, server, path


def last_result(request: Any) -> str:
    return json.dumps(request.body["messages"][-1])


def test_a_definition_that_changed_counts_from_the_next_run_on(serve: Serve) -> None:
    write = {
        "match": "You are the second.",
        "calls": [{"call": "Write", "arguments": {"file_path": "x", "content": "x"}}],
    }
    place, server, _ = started(serve, "", {"text": "waits"}, write, {"text": "second"}, {"text": "heard"})
    define(place, "tools: Read\n", "You are the second.")
    place.run("-c", "-p", "go on", "--permission-mode", "bypassPermissions")
    again = next(request for request in server.requests[4:] if "You are the second." in json.dumps(request.body))
    assert [tool["name"] for tool in again.body["tools"]] == ["Read"]
    assert "first" in json.dumps(again.body["messages"]), "it knows what it said before"
    assert not (place.project / "x").exists(), "rights are those of the definition now"


def test_a_definition_that_is_gone_is_told_and_starts_no_other_agent(serve: Serve) -> None:
    place, server, path = started(serve, "", {"text": "why"})
    path.unlink()
    assert place.run("-c", "-p", "go on").out == "why\n"
    assert "Nothing was sent: there is no agent of the kind 'keeper'" in last_result(server.requests[-1])


def test_a_model_that_is_gone_is_told_and_starts_no_other_agent(serve: Serve) -> None:
    first = {"match": "You are the first.", "text": "first"}
    place, server = serve([agent(), first, {"text": "out"}, TELL, {"text": "why"}])
    define(place, "model: openai/gpt-5\n", "You are the first.")
    keys = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": f"{server.url}/v1"}
    assert place.run("-p", "go", env=keys).out == "out\n"
    assert place.run("-c", "-p", "go on").out == "why\n"
    said = last_result(server.requests[-1])
    assert "cannot go on" in said
    assert "OPENAI_API_KEY" in said
