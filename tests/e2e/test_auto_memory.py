"""Auto-memory through the real command: off unless asked for, and never a line that nobody was shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place, Serve
from e2e.driver import Driven, Json, is_asked

LINE = "Tests run with make test."
SUGGEST = ("--settings", json.dumps({"memory": {"auto": "suggest"}}))
ASK = ("--permission-prompt-tool", "stdio")
MODES = ("default", "plan", "acceptEdits", "bypassPermissions")


def remember(line: str) -> Json:
    return {"calls": [{"call": "Remember", "arguments": {"line": line}}]}


def kept(place: Place) -> dict[str, str]:
    """All memory files there are."""
    found = [*place.clew_home.glob("*.md"), *place.project.glob("*.md")]
    return {path.name: path.read_text() for path in found}


def test_without_the_setting_there_is_no_such_tool(serve: Serve) -> None:
    place, server = serve([remember(LINE), {"text": "ok"}])
    assert place.run("-p", "hi", "--permission-mode", "bypassPermissions").out.strip() == "ok"
    assert "Remember" not in [tool["name"] for tool in server.requests[0].body["tools"]]
    assert kept(place) == {}


@pytest.mark.parametrize("mode", MODES)
def test_with_nobody_there_nothing_is_kept_in_any_mode_and_it_is_listed(serve: Serve, mode: str) -> None:
    place, _ = serve([remember(LINE), {"text": "ok"}])
    allowed = ("--allowed-tools", "Remember")
    done = place.run("-p", "hi", *SUGGEST, *allowed, "--permission-mode", mode, "--output-format", "json")
    (denial,) = done.result["permission_denials"]
    assert denial["tool_name"] == "Remember"
    assert denial["subject"].endswith(f"AGENTS.md\n- {LINE}")
    assert kept(place) == {}


def test_in_plan_mode_nothing_is_kept_and_nobody_is_asked(serve: Serve) -> None:
    place, _ = serve([remember(LINE), {"text": "ok"}])
    with Driven(place, *ASK, *SUGGEST, "--allowed-tools", "Remember", "--permission-mode", "plan") as run:
        run.say("hi")
        (denial,) = run.result()["permission_denials"]
        assert (denial["tool_name"], denial["reason"]) == ("Remember", "plan mode changes nothing")
        assert not run.of("control_request")
    assert kept(place) == {}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plan"])
def test_the_exact_line_is_shown_kept_and_can_be_taken_out_again(serve: Serve, mode: str) -> None:
    place, _ = serve([remember(f"  {LINE} \u202e"), {"text": "ok"}])
    (place.project / "AGENTS.md").write_text("# Ours\n")
    with Driven(place, *ASK, *SUGGEST, "--trust", "--permission-mode", mode) as run:
        run.say("hi")
        asked = run.until(is_asked("can_use_tool"))
        request = asked["request"]
        assert (request["tool_name"], request["permission_suggestions"]) == ("Remember", [])
        assert request["description"] == f"{place.project}/AGENTS.md\n- {LINE}"
        assert kept(place) == {"AGENTS.md": "# Ours\n"}
        run.answer(asked, {"behavior": "allow", "updatedInput": request["input"]})
        run.result()
        assert kept(place) == {"AGENTS.md": f"# Ours\n- {LINE}\n"}
        run.say("/memory undo")
        assert "Taken out" in run.result()["result"]
        run.say("/memory undo")
        assert run.result()["is_error"]
        run.end()
    assert kept(place) == {"AGENTS.md": "# Ours\n"}


def test_before_trust_a_project_file_is_left_alone(serve: Serve) -> None:
    place, _ = serve([remember(LINE), {"text": "ok"}])
    (place.project / "AGENTS.md").write_text("# Theirs\n")
    with Driven(place, *ASK, *SUGGEST) as run:
        run.say("hi")
        asked = run.until(is_asked("can_use_tool"))
        assert str(place.clew_home) in asked["request"]["description"]
        run.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"]})
        run.result()
        run.end()
    assert (place.project / "AGENTS.md").read_text() == "# Theirs\n"
    assert (place.clew_home / "AGENTS.md").read_text() == f"- {LINE}\n"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("one\ntwo", "more than one line"),
        ("the key is sk-ant-test-canary-000000000000", "looks like a secret"),
        ("password = hunter2hunter2Aq9", "looks like a secret"),
        ("  \u200b ", "no line to remember"),
        ("x" * 2_001, "at most 2,000 characters"),
    ],
)
def test_what_must_not_stand_there_is_refused_without_asking(serve: Serve, line: str, why: str) -> None:
    place, server = serve([remember(line), {"text": "ok"}])
    with Driven(place, *ASK, *SUGGEST, "--permission-mode", "bypassPermissions") as run:
        run.say("hi")
        run.result()
        run.end()
    assert not [seen for seen in run.lines if seen["type"] == "control_request"]
    assert why in json.dumps(server.requests[1].body["messages"][-1])
    assert kept(place) == {}


def test_a_hook_cannot_say_yes(serve: Serve, tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    hook = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
    settings: dict[str, Any] = {
        "memory": {"auto": "suggest"},
        "hooks": {"PreToolUse": [{"matcher": "Remember", "hooks": [hook]}]},
    }
    place, _ = serve([remember(LINE), {"text": "ok"}])
    place.clew_home.mkdir()
    (place.clew_home / "settings.json").write_text(json.dumps(settings))
    done = place.run("-p", "hi", "--permission-mode", "bypassPermissions", "--output-format", "json")
    assert [denial["tool_name"] for denial in done.result["permission_denials"]] == ["Remember"]
    assert kept(place) == {}
