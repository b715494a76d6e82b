"""Prompts and resources of MCP servers through the real command: as slash names, as mentions, as tools; bounded, and
told apart from what the user says."""

import json
from pathlib import Path

from e2e.driver import Driven
from e2e.test_mcp_asks import Lab, labs, results

__all__ = ["labs"]
RULE = ("--allowed-tools", "mcp__people", "--mcp-wait", "60")


def call(name: str, **arguments: object) -> dict[str, object]:
    given = {"tool": f"mcp__people__{name}", "arguments": arguments}
    return {"calls": [{"call": "CallTool", "arguments": given}]}


def said(lab: Lab, at: int) -> str:
    """All that stands in one request's messages."""
    return json.dumps(lab.model.requests[at].body["messages"])


def test_a_prompt_is_a_slash_name_with_arguments(tmp_path: Path, labs: list[Lab]) -> None:
    labs.append(lab := Lab(tmp_path, [{"text": "ready"}, {"text": "planned"}, {"text": "more"}]))
    with Driven(lab.place, *RULE) as run:
        run.say("hi")
        assert run.result()["result"] == "ready"
        run.say('/mcp__people__evening "the old harbour" 4')
        assert run.result()["result"] == "planned"
        run.say("/mcp__people__evening")
        assert "place is missing" in json.dumps(run.result())
        run.end()
    told = said(lab, 1)
    assert "Plan an evening at the old harbour for 4 people." in told
    assert "prompt 'evening' of the MCP server people" in told
    assert len(lab.model.requests) == 2, "what does not fit is not sent"


def test_a_prompt_of_a_server_is_found_by_a_run_that_begins_with_it(tmp_path: Path, labs: list[Lab]) -> None:
    labs.append(lab := Lab(tmp_path, [{"text": "planned"}]))
    done = lab.place.run("-p", '/mcp__people__evening "the old harbour" 4')
    assert (done.code, done.out) == (0, "planned\n"), done.err
    assert "Plan an evening at the old harbour for 4 people." in said(lab, 0)
    done = lab.place.run("-p", "/mcp__people__evening --help")
    assert (done.code, done.out.splitlines()[0]) == (0, "Usage: /mcp__people__evening <place> [guests]"), done.out
    done = lab.place.run("-p", "/mcp__people__morning")
    assert done.code == 2
    assert "Unknown command /mcp__people__morning" in done.err
    assert len(lab.model.requests) == 1


def test_a_mentioned_resource_is_read_framed_and_bounded(tmp_path: Path, labs: list[Lab]) -> None:
    labs.append(lab := Lab(tmp_path, [{"text": "one"}, {"text": "two"}, {"text": "three"}, {"text": "four"}]))
    with Driven(lab.place, *RULE) as run:
        for prompt in (
            "sum up @people:notes://harbour, please",
            "and @people:notes://long",
            "and @people:notes://nowhere and @people:notes://ships/argo",
            "mail me@people:notes://harbour or @nobody:notes://harbour",
        ):
            run.say(prompt)
            run.result()
        run.end()
    first, second, third, fourth = (said(lab, at) for at in range(4))
    assert "The harbour opens at six" in first
    assert "a resource of the MCP server people. It holds:" in first
    assert "more characters are left out" in second
    assert len(second) < 150_000
    assert "was not read" in third
    assert "argo is at sea" in third
    assert fourth.count("It holds:") == third.count("It holds:"), "an address within a word is none"


def test_resources_are_tools_of_the_server(tmp_path: Path, labs: list[Lab]) -> None:
    script = [call("ListMcpResources"), call("ReadMcpResource", uri="notes://harbour"), {"text": "done"}]
    labs.append(lab := Lab(tmp_path, script))
    done = lab.place.run("-p", "what is there?", *RULE, "--output-format", "json")
    assert done.result["result"] == "done", done.err
    listed, read = results(lab.model)
    assert "notes://harbour" in listed
    assert "notes://ships/{ship}" in listed
    assert "opens at six" in read
