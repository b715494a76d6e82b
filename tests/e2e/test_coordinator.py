"""Coordinator mode through the real command: prompt and tools by one decision, workers, the toggle, resume."""

import json
from typing import Any

from e2e.command import Serve

DELEGATES = ["Agent", "SendMessage", "TaskStop"]


def agent(prompt: str, **more: Any) -> dict[str, Any]:
    return {"call": "Agent", "arguments": {"description": prompt, "prompt": f"TASK {prompt}", **more}}


def tools_of(body: dict[str, Any]) -> list[str]:
    return sorted(tool["name"] for tool in body["tools"])


def system_of(body: dict[str, Any]) -> str:
    return json.dumps(body["system"])


def test_co_1_2_3_6_a_coordinator_only_delegates_and_its_workers_do_the_work(serve: Serve) -> None:
    work = {"match": '"text":"TASK count', "calls": [{"call": "Bash", "arguments": {"command": "echo 42"}}]}
    place, server = serve(
        [{"calls": [agent("count")]}, {"text": "a worker counts"}, work, {"text": "42"}, {"text": "It is 42."}]
    )
    done = place.run("-p", "count", "--coordinator", "--trust")
    assert (done.code, done.err) == (0, "")
    bodies = [request.body for request in server.requests]
    coordinator = [body for body in bodies if "You coordinate" in system_of(body)]
    workers = [body for body in bodies if "You coordinate" not in system_of(body)]
    assert {tuple(tools_of(body)) for body in coordinator} == {tuple(DELEGATES)}
    assert workers
    names = set(tools_of(workers[0]))
    assert {"Bash", "Read", "Edit", "Write"} <= names
    assert not names & {"Agent", "SendMessage"}
    assert "You are clew" in system_of(workers[0])
    assert system_of(workers[0]).count("Shared notes") == 1
    assert "Shared notes" in system_of(coordinator[0])
    launched = json.dumps(coordinator[1]["messages"])
    assert "launched in the background" in launched
    told = [body for body in coordinator if "<task-notification>" in json.dumps(body["messages"])]
    assert told
    assert json.dumps(told[-1]["messages"]).count("<task-notification>") == 1


def test_co_4_a_resumed_session_coordinates_again_and_says_so(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "ok"}})
    assert place.run("-p", "one", "--coordinator").code == 0
    done = place.run("-c", "-p", "two", "--verbose")
    assert done.code == 0
    assert "coordinator" in done.err
    assert tools_of(server.requests[1].body) == DELEGATES
    assert server.requests[1].body["system"] == server.requests[0].body["system"]


def test_co_5_an_agent_cannot_coordinate_besides(serve: Serve) -> None:
    place, server = serve([])
    done = place.run("-p", "x", "--coordinator", "--agent", "Explore")
    assert done.code == 2
    assert "Explore cannot coordinate" in done.err
    assert not server.requests
