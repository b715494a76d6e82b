"""Kinds of agents through the real command: what people list, check and draft, and a conversation that runs as one."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place, Serve
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

REVIEWER = """---
name: reviewer
description: Reviews what changed.
tools: Read, Grep
model: haiku
permissionMode: plan
maxTurns: 5
initialPrompt: Look at the last commit first.
---
You review changes. Say what you saw.
"""


def define(folder: Path, name: str, text: str = REVIEWER) -> Path:
    path = folder / "agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("name: reviewer", f"name: {name}"))
    return path


def system(request: Any) -> str:
    return "\n\n".join(block["text"] for block in request.body["system"])


def tools(request: Any) -> list[str]:
    return [tool["name"] for tool in request.body["tools"]]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_list_names_every_kind_with_where_it_comes_from(place: Place) -> None:
    own = define(place.clew_home, "reviewer")
    theirs = define(place.project / ".claude", "tester")
    before = place.run("agents", "list")
    assert before.code == 0
    assert f"reviewer          [yours: {own}]  Reviews what changed." in before.out
    assert "Explore           [built in]" in before.out
    assert "tester" not in before.out.replace(str(theirs.parent), "")
    assert f"not read before the directory is trusted: {theirs.parent}" in before.out
    place.run("-p", "x", "--trust")
    listed = json.loads(place.run("agents", "list", "--json").out)
    assert [row["name"] for row in listed["kinds"]][:2] == ["reviewer", "tester"]
    assert listed["kinds"][1]["level"] == "project"


def test_show_prints_fields_notes_and_the_prompt(place: Place) -> None:
    path = define(place.clew_home, "reviewer", REVIEWER.replace("maxTurns: 5", "maxTurns: 5\nmemory: user"))
    shown = place.run("agents", "show", "Reviewer")
    assert shown.code == 0
    assert f"reviewer  (yours: {path})" in shown.out
    for words in ("Tools: Read, Grep", "Model: anthropic/claude-haiku", "at most 5", "Memory: of its own (user)"):
        assert words in shown.out
    assert shown.out.endswith("\nYou review changes. Say what you saw.\n")
    missing = place.run("agents", "show", "nobody")
    assert (missing.code, missing.out) == (1, "")
    assert "no agent of the kind 'nobody'; kinds are reviewer, Explore" in missing.err


def test_check_names_what_is_wrong_and_says_so_to_programs(place: Place) -> None:
    assert place.run("agents", "check").code == 0
    broken = define(place.clew_home, "broken", "---\nname: broken\npermissionMode: yolo\n---\nx\n")
    define(place.clew_home, "odd", "---\nname: odd\ndescription: odd\nshiny: 1\ntools: Read, Nothing\n---\nx\n")
    done = place.run("agents", "check")
    assert done.code == 1
    assert f"not used: {broken}: there is no permission mode 'yolo'" in done.out
    assert "unknown fields, which do nothing: shiny" in done.out
    assert "there is no tool 'Nothing' here" in done.out
    assert "8 kinds of agents; 1 definition is not used" in done.out


def test_a_terminal_gets_no_orders_from_a_definition(place: Place) -> None:
    define(place.clew_home, "evil", "---\nname: evil\ndescription: red \x1b[31m\n---\nClear \x1b[2J it.\n")
    assert "\x1b" not in place.run("agents", "list").out + place.run("agents", "show", "evil").out


def test_the_conversation_runs_as_an_agent(serve: Serve) -> None:
    place, server = serve([{"text": "Looked."}])
    define(place.clew_home, "reviewer")
    (place.project / "AGENTS.md").write_text("Memory of the project.\n")
    done = place.run("-p", "go", "--agent", "reviewer", "--trust", "--output-format", "json")
    assert json.loads(done.out)["result"] == "Looked."
    request = server.requests[0]
    assert tools(request) == ["Read", "Grep"]
    assert "haiku" in request.body["model"]
    words = system(request)
    assert words.startswith("You review changes. Say what you saw.")
    assert "You are clew" not in words
    assert "Nobody is watching" in words
    assert "Memory of the project." in words
    assert "Look at the last commit first." in json.dumps(request.body["messages"])


def test_what_the_user_says_beats_the_agent_but_never_loosens_it(serve: Serve) -> None:
    call = {"calls": [{"call": "Bash", "arguments": {"command": "touch made"}}]}
    place, server = serve({"replies": [call], "last": {"text": "Done."}})
    define(place.clew_home, "worker-bee", REVIEWER.replace("Read, Grep", "Read, Bash"))
    flags = ("--agent", "worker-bee", "--trust", "--model", "anthropic/claude-opus-4-5", "--system-prompt", "Mine.")
    done = place.run("-p", "go", *flags, "--permission-mode", "bypassPermissions", "--append-system-prompt", "More.")
    assert done.out == "Done.\n"
    request = server.requests[0]
    assert "opus" in request.body["model"]
    assert system(request).startswith("Mine.\n\nMore.")
    assert tools(request) == ["Bash", "Read"]
    assert not (place.project / "made").exists()


def test_a_session_that_ran_as_an_agent_goes_on_as_one(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "Fine."}})
    path = define(place.clew_home, "reviewer")
    place.run("-p", "one", "--agent", "reviewer", "--trust")
    place.run("-p", "two", "-c")
    first, second = server.requests[0], server.requests[1]
    assert (tools(second), system(second)) == (tools(first), system(first))
    path.unlink()
    done = place.run("-p", "three", "-c")
    assert done.out == "Fine.\n"
    assert "ran as the agent reviewer and goes on without it" in done.err
    assert "Edit" in tools(server.requests[2])
    place.run("-p", "four", "-c", "--fork-session", "--agent", "Explore")
    assert tools(server.requests[3]) == ["Bash", "Read", "Grep", "Glob"]
    place.run("-p", "five", "-c", "--agent", "main")
    assert system(server.requests[4]).startswith("You are clew")
    place.run("-p", "six", "-c")
    assert system(server.requests[5]).startswith("You are clew")


def test_agents_given_as_json_are_for_this_session(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "Fine."}})
    given = json.dumps({"poet": {"description": "Writes verse.", "prompt": "Rhyme.", "tools": []}, "bad": {}})
    done = place.run("-p", "go", "--agents", given)
    assert done.out == "Fine.\n"
    assert "--agents, 'bad': it has no prompt" in done.err
    assert "- poet: Writes verse." in system(server.requests[0])
    place.run("-p", "go", "--agents", given, "--agent", "poet")
    assert system(server.requests[1]).startswith("Rhyme.")
    assert server.requests[1].body.get("tools", []) == []
    place.run("-p", "go")
    assert "poet" not in system(server.requests[2])


def test_slash_agents_lists_shows_drafts_and_writes(tmp_path: Path) -> None:
    script = {
        "replies": [{"match": "Description: checks", "text": "You check links. Report dead ones."}],
        "last": {"text": "Hello back."},
    }
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)
        person = ScreenPerson(place, "--plain", "--trust")
        try:
            person.sees("lists commands")
            person.type("/agents\r")
            person.sees("Explore  (built in)")
            person.type("/agents plan\r")
            person.sees("You plan a change to a code base")
            person.type("/agents new linker checks links in docs\r")
            person.sees("/agents write linker puts it into")
            path = place.clew_home / "agents" / "linker.md"
            assert not path.exists()
            person.type("/agents write linker\r")
            person.sees("Written to")
            assert "You check links. Report dead ones." in path.read_text()
            person.type("/agents new linker again\r")
            person.sees("is there already")
            person.type("hello\r")
            person.sees("Hello back.")
            person.type("\x04")
            person.until_ended()
        finally:
            person.leave()
        told = json.dumps(server.requests[-1].body["messages"])
        assert "The user has a new kind of agent: linker: checks links in docs" in told
        assert "checks links in docs" in place.run("agents", "show", "linker").out


def test_without_a_fast_model_a_skeleton_is_drafted(place: Place) -> None:
    done = place.run("-p", "/agents new linker Checks links: in docs.", "--fast-model", "none")
    assert "A skeleton" in done.out
    for name in ("../up", "-x", "main", "a/b"):
        refused = place.run("-p", f"/agents new {name} x", "--fast-model", "none")
        assert refused.code != 0
        assert "agent" in refused.out + refused.err
    assert 'description: "Checks links: in docs."' in done.out
    assert not (place.clew_home / "agents").exists()


def test_an_agent_that_only_reads_is_not_told_of_plan_mode_besides(serve: Serve) -> None:
    place, server = serve({"replies": [], "last": {"text": "ok"}})
    assert place.run("-p", "look", "--agent", "Explore").out == "ok\n"
    assert place.run("-c", "-p", "again").out == "ok\n"
    for request in server.requests:
        assert "Plan mode is on" not in json.dumps(request.body)
    touch = {"calls": [{"call": "Bash", "arguments": {"command": "touch made"}}]}
    other = ModelServer([touch, {"text": "done"}]).__enter__()
    try:
        place.run("-p", "do", "--agent", "Explore", env={"ANTHROPIC_BASE_URL": other.url})
    finally:
        other.__exit__()
    assert not (place.project / "made").exists(), "plan mode holds all the same"
