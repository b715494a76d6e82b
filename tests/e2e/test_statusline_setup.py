"""The agent that sets up the status line, through the real command: it sets one setting, after a person's yes."""

import json
from typing import Any

from e2e.command import Place, Serve
from e2e.driver import Driven, is_asked

ASK = ("--permission-prompt-tool", "stdio")
COMMAND = "jq -r .model.display_name"


def script(*inner: Any) -> list[Any]:
    given = {"description": "status", "prompt": "TASK", "subagent_type": "statusline-setup"}
    first, *rest = inner
    return [{"calls": [{"call": "Agent", "arguments": given}]}, {"match": '"text":"TASK', **first}, *rest]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"call": tool, "arguments": arguments}]}


def settings(place: Place) -> dict[str, Any]:
    return json.loads((place.clew_home / "settings.json").read_text())


def test_it_reads_the_shell_prompt_and_sets_the_status_line_when_the_user_agrees(serve: Serve) -> None:
    place, server = serve(
        script(
            call("Read", file_path="~/.bashrc"),
            call("SetStatusLine", command=COMMAND, padding=1),
            {"text": "inner"},
            {"text": "out"},
        )
    )
    (place.home / ".bashrc").write_text("PS1='model> '\n")
    place.clew_home.mkdir(exist_ok=True)
    (place.clew_home / "settings.json").write_text('{\n  "titles": {"model": "off"}\n}\n')
    with Driven(place, *ASK, "--permission-mode", "bypassPermissions") as run:
        run.say("set my status line")
        asked = run.until(is_asked("can_use_tool"))
        request = asked["request"]
        assert request["tool_name"] == "SetStatusLine"
        assert request["input"]["command"] == COMMAND
        assert "statusLine" not in settings(place)
        run.answer(asked, {"behavior": "allow", "updatedInput": request["input"]})
        assert run.result()["result"] == "out"
        run.end()
    assert settings(place) == {
        "titles": {"model": "off"},
        "statusLine": {"type": "command", "command": COMMAND, "padding": 1},
    }
    assert sorted(tool["name"] for tool in server.requests[1].body["tools"]) == ["Read", "SetStatusLine"]
    assert "PS1" in json.dumps(server.requests[2].body["messages"][-1])
    assert place.run("config", "list").code == 0, "the setting is one that clew knows"


def test_where_nobody_can_be_asked_nothing_is_changed_and_it_is_listed(serve: Serve) -> None:
    place, _ = serve(script(call("SetStatusLine", command=COMMAND), {"text": "inner"}, {"text": "out"}))
    done = place.run("-p", "go", "--output-format", "json", "--permission-mode", "bypassPermissions")
    (denial,) = done.result["permission_denials"]
    assert denial["tool_name"] == "SetStatusLine"
    assert not (place.clew_home / "settings.json").exists()


def test_it_neither_reads_the_settings_nor_writes_a_file_nor_runs_a_command(serve: Serve) -> None:
    inner = {
        "calls": [
            *call("Read", file_path="~/.clew/settings.json")["calls"],
            *call("Read", file_path="/etc/hostname")["calls"],
            *call("Write", file_path="x", content="x")["calls"],
            *call("Bash", command="touch made")["calls"],
        ]
    }
    place, server = serve(script(inner, {"text": "inner"}, {"text": "out"}))
    place.clew_home.mkdir(exist_ok=True)
    (place.clew_home / "settings.json").write_text('{"titles": {"model": "off"}}')
    assert place.run("-p", "go", "--permission-mode", "bypassPermissions").out == "out\n"
    results = server.requests[2].body["messages"][-1]["content"]
    assert [result.get("is_error") for result in results if result["type"] == "tool_result"] == [True] * 4
    assert not (place.project / "made").exists()


def test_no_other_agent_has_the_tool(serve: Serve) -> None:
    place, server = serve([call("SetStatusLine", command=COMMAND), {"text": "out"}])
    place.run("-p", "go", "--permission-mode", "bypassPermissions")
    assert "SetStatusLine" not in json.dumps(server.requests[0].body["tools"])
    assert "There is no tool named" in json.dumps(server.requests[1].body["messages"][-1])
