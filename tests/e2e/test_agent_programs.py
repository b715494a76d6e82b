"""Definitions of agents that bring hooks or MCP servers, through the real command: approved by digest, run for that
agent only."""

import json
import sys
from pathlib import Path
from typing import Any

from e2e.command import Place, Serve

FAKES = Path(__file__).parents[1] / "fakes"
BASH = {"calls": [{"call": "Bash", "arguments": {"command": "echo ran"}}]}


def agent(kind: str) -> dict[str, Any]:
    return {"calls": [{"call": "Agent", "arguments": {"description": "d", "prompt": "TASK", "subagent_type": kind}}]}


def define(folder: Path, name: str, fields: str) -> Path:
    path = folder / "agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: guarded\n{fields}---\nYou are {name}.\n")
    return path


def hooks(command: str, matcher: str = "Bash", moment: str = "PreToolUse") -> str:
    return f"""hooks:
  {moment}:
    - matcher: "{matcher}"
      hooks:
        - type: command
          command: {command}
"""


def script(place: Place, name: str, text: str) -> str:
    path = place.project / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return f"./{name}"


def results(request: Any) -> str:
    """What the last tool results of a request say."""
    return json.dumps(request.body["messages"][-1])


def test_hooks_of_a_definition_are_approved_by_digest_and_guard_that_agent_only(serve: Serve) -> None:
    place, server = serve(
        {
            "replies": [
                agent("guarded"),
                {"text": "refused"},
                BASH,
                agent("guarded"),
                {"match": '"text":"TASK', **BASH},
                {"text": "inner done"},
                {"text": "outer done"},
                agent("guarded"),
                {"text": "refused again"},
            ]
        }
    )
    guard = script(place, "guard.sh", "cat > /dev/null; echo no shell for this agent >&2; exit 2")
    path = define(place.project / ".claude", "guarded", hooks(guard))
    first = place.run("-p", "go", "--trust")
    assert first.out == "refused\n"
    said = results(server.requests[1])
    assert "was not started: its definition" in said
    assert f"PreToolUse: {guard}" in said
    assert "clew hooks approve" in said
    assert "clew hooks approve" in first.err
    checked = place.run("agents", "check")
    assert "note: guarded" in checked.out
    assert "does not start before its hooks are approved: clew hooks approve" in checked.out
    listed = place.run("hooks", "list").out
    assert "(agent guarded)" in listed
    assert "not approved" in listed
    approved = place.run("hooks", "approve", "--yes")
    assert "approved 1 hook" in approved.out
    assert "only   about calls of the agent guarded" in approved.out
    assert f"PreToolUse Bash: {guard} (runs)" in place.run("agents", "show", "guarded").out
    second = place.run("-p", "go", "--trust", "--allowed-tools", "Bash(echo *)")
    assert second.out == "outer done\n", second.err
    mine = results(server.requests[3])
    assert "no shell" not in mine, "a hook of an agent has no say about the calls of others"
    assert "ran" in mine
    inner = results(server.requests[5])
    assert "no shell for this agent" in inner
    script(place, "guard.sh", "exit 0")
    third = place.run("-p", "go", "--trust")
    assert third.out == "refused again\n"
    assert "nobody approved" in results(server.requests[-1])
    assert path.exists()


def test_where_the_user_wants_no_hooks_an_agent_has_none_either(serve: Serve) -> None:
    place, server = serve([agent("guarded"), {"match": '"text":"TASK', **BASH}, {"text": "inner"}, {"text": "out"}])
    define(place.clew_home, "guarded", hooks("exit 2"))
    off = json.dumps({"disableAllHooks": True})
    assert place.run("-p", "go", "--settings", off, "--allowed-tools", "Bash(echo *)").out == "out\n"
    assert "ran" in results(server.requests[2])


def test_the_end_of_an_agents_work_is_a_moment_of_its_hooks(serve: Serve) -> None:
    place, server = serve(
        [
            agent("ender"),
            {"match": '"text":"TASK', "text": "first words"},
            {"match": "look again", "text": "second words"},
            {"text": "out"},
        ]
    )
    once = 'cd "$CLEW_PROJECT_DIR"; test -e seen && exit 0; touch seen; echo look again >&2; exit 2'
    define(place.clew_home, "ender", hooks(script(place, "end.sh", once), "x", "Stop"))
    done = place.run("-p", "go", "--trust")
    assert done.out == "out\n", done.err
    assert "second words" in results(server.requests[-1])


def test_nothing_of_a_definition_runs_before_the_directory_is_trusted(serve: Serve) -> None:
    place, server = serve([agent("guarded"), {"text": "out"}])
    define(place.project / ".clew", "guarded", hooks("touch made"))
    assert place.run("-p", "go").out == "out\n"
    assert "no agent of the kind 'guarded'" in results(server.requests[1])
    assert not (place.project / "made").exists()


def test_a_conversation_that_runs_as_an_agent_has_its_hooks_or_does_not_begin(serve: Serve) -> None:
    place, server = serve([BASH, {"text": "out"}])
    guard = script(place, "guard.sh", "cat > /dev/null; echo not here >&2; exit 2")
    define(place.project / ".clew", "guarded", hooks(guard))
    refused = place.run("-p", "go", "--trust", "--agent", "guarded")
    assert refused.code != 0
    assert "nobody approved" in refused.err
    assert not server.requests
    place.run("hooks", "approve", "--yes")
    assert place.run("-p", "go", "--trust", "--agent", "guarded").out == "out\n"
    assert "not here" in results(server.requests[1])


def test_a_hook_that_cannot_be_read_keeps_the_definition_out(tmp_path: Path) -> None:
    place = Place(tmp_path)
    define(place.clew_home, "odd", "hooks:\n  PreToolUse:\n    - hooks: [{type: prompt, prompt: x}]\n")
    define(place.clew_home, "early", "hooks:\n  SessionStart: []\n")
    done = place.run("agents", "check")
    assert done.code == 1
    assert "only command hooks run" in done.out
    assert "hooks.SessionStart: an agent has the moments" in done.out


def served(pidfile: Path | None = None, *words: str) -> str:
    one: dict[str, Any] = {"command": sys.executable, "args": [str(FAKES / "raw_mcp.py"), *words]}
    if pidfile is not None:
        one |= {"env": {"RAW_PIDFILE": str(pidfile)}, "sandbox": False}
    return f"mcpServers:\n  - raw: {json.dumps(one)}\n"


def test_servers_of_a_definition_are_approved_connected_for_that_agent_and_closed(serve: Serve, tmp_path: Path) -> None:
    echo = {"calls": [{"call": "mcp__raw__echo", "arguments": {"text": "hi"}}]}
    place, server = serve(
        [
            agent("served"),
            {"text": "refused"},
            agent("served"),
            {"match": '"text":"TASK', **echo},
            {"match": "echo: hi", "text": "inner done"},
            {"text": "outer done"},
        ]
    )
    pidfile = tmp_path / "pid"
    define(place.project / ".clew", "served", served(pidfile) + "tools: Read\n")
    assert place.run("-p", "go", "--trust").out == "refused\n"
    said = results(server.requests[1])
    assert "brings MCP servers that nobody approved: raw" in said
    assert "clew mcp approve" in said
    assert not pidfile.exists()
    assert "does not start before its MCP servers are approved" in place.run("agents", "check").out
    assert "approved" in place.run("mcp", "approve", "--yes").out
    assert not pidfile.exists(), "an approval starts nothing"
    assert "(runs)" in place.run("agents", "show", "served").out
    done = place.run("-p", "go", "--trust", "--allowed-tools", "mcp__raw")
    assert done.out == "outer done\n", done.err
    main, child = (json.dumps(request.body["tools"]) for request in server.requests[2:4])
    assert "mcp__raw__echo" not in main
    assert "mcp__raw__echo" in child
    assert '"name": "Read"' in child
    assert '"name": "Bash"' not in child
    assert not Path(f"/proc/{pidfile.read_text().strip()}").exists()


def test_a_server_that_cannot_start_is_told_and_the_agent_works_without(serve: Serve) -> None:
    place, server = serve([agent("served"), {"match": '"text":"TASK', "text": "inner"}, {"text": "out"}])
    define(place.clew_home, "served", "mcpServers:\n  - gone: {command: /proc/nonexistent}\n  - unknown\n")
    done = place.run("-p", "go")
    assert done.out == "out\n"
    assert "the agent served works without its MCP server gone" in done.err
    child = json.dumps(server.requests[1].body["messages"])
    assert "Your MCP server gone is not there" in child
    assert "Your MCP server unknown is not there: no server of that name is defined here" in child


def test_an_agent_does_not_start_without_a_server_that_it_needs(serve: Serve) -> None:
    place, server = serve([agent("needy"), {"text": "out"}])
    define(place.clew_home, "needy", "requiredMcpServers: github\n")
    assert place.run("-p", "go").out == "out\n"
    assert "it needs the MCP server github, which is not there" in results(server.requests[1])
    assert len(server.requests) == 2


def test_an_agent_has_the_servers_of_the_session_that_it_names(serve: Serve) -> None:
    echo = {"calls": [{"call": "mcp__raw__echo", "arguments": {"text": "hi"}}]}
    place, server = serve(
        [
            agent("namer"),
            {"match": '"text":"TASK', **echo},
            {"match": "echo: hi", "text": "inner done"},
            {"text": "outer done"},
        ]
    )
    define(place.clew_home, "namer", "mcpServers: raw\n")
    given = json.dumps({"mcpServers": {"raw": {"command": sys.executable, "args": [str(FAKES / "raw_mcp.py")]}}})
    done = place.run("-p", "go", "--mcp-config", given, "--allowed-tools", "mcp__raw")
    assert done.out == "outer done\n", done.err
    assert "mcp__raw__echo" in json.dumps(server.requests[1].body["tools"])
