"""What programs of the SDK rely on: how runs end, hooks at the start, paths for hooks, settings of Claude Code."""

import json
import os
from typing import Any

import pytest
from claude_agent_sdk import (
    HookMatcher,
    PermissionResultDeny,
    ResultError,
    SystemMessage,
    ToolPermissionContext,
    query,
)

from sdk.conftest import MakeLab
from sdk.lab import bash, collect, collect_failing, exchange, result_of, words


async def deny(tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultDeny:
    return PermissionResultDeny(message="not here")


async def deny_by_hook(given: Any, call_id: str | None, context: Any) -> Any:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "not here"}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


@pytest.mark.parametrize(
    "options",
    [{"can_use_tool": deny}, {"hooks": {"PreToolUse": [HookMatcher(hooks=[deny_by_hook])]}}],
    ids=["callback", "hook"],
)
async def test_calls_that_the_program_denied_make_no_failure(lab: MakeLab, options: dict[str, Any]) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "It was not allowed, so I stop."}])
    result = result_of(await collect(query(prompt="go", options=here.options(**options))))
    assert (result.subtype, result.is_error) == ("success", False)
    assert result.result == "It was not allowed, so I stop."
    assert [denial["tool_name"] for denial in result.permission_denials or []] == ["Bash"]


async def test_calls_that_nobody_could_allow_are_a_failure(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I could not."}])
    seen, _ = await collect_failing(query(prompt="go", options=here.options()))
    assert result_of(seen).is_error


@pytest.mark.parametrize("budget_usd", [0.0001, 100.0])
async def test_a_request_that_costs_more_than_the_budget(lab: MakeLab, budget_usd: float) -> None:
    here = lab([{"text": "four", "usage": {"input": 10_000, "output": 1_000}}])
    async with here.client(max_budget_usd=budget_usd) as client:
        result = result_of(await exchange(client, "what is 2 + 2?"))
    over = budget_usd < 1
    assert (result.subtype, result.is_error) == (("error_max_budget_usd", True) if over else ("success", False))
    assert result.result == "four"
    assert bool(result.errors) is over


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"fault": "status", "status": 400, "message": "the tool names are wrong"}, 400),
        ({"fault": "unauthorized"}, 401),
    ],
)
async def test_a_failure_of_the_api(lab: MakeLab, fault: dict[str, Any], status: int) -> None:
    here = lab({"replies": [], "last": fault})
    seen, error = await collect_failing(query(prompt="hi", options=here.options()))
    result = result_of(seen)
    assert (result.subtype, result.is_error, result.api_error_status) == ("success", True, status)
    assert (result.result or "").startswith("API Error: ")
    assert not result.errors
    assert result.terminal_reason == "api_error"
    assert isinstance(error, ResultError)
    assert error.api_error_status == status
    assert error.result == result.result
    assert "success" not in str(error)


async def test_the_same_in_print_mode(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"fault": "unauthorized"}})
    done = here.place.run("-p", "hi", "--output-format", "json")
    told = json.loads(done.out)
    assert (done.code, told["is_error"], told["api_error_status"]) == (1, True, 401)
    assert told["result"] == f"API Error: {told['error']}"


async def test_an_empty_prompt_has_a_result(lab: MakeLab) -> None:
    here = lab([{"text": "hello"}])
    async with here.client() as client:
        result = result_of(await exchange(client, ""))
        assert (result.is_error, result.errors) == (True, ["the prompt is empty"])
        assert words(await exchange(client, "hi")) == "hello"
    seen, _ = await collect_failing(query(prompt="  ", options=here.options()))
    assert result_of(seen).errors == ["the prompt is empty"]
    assert len(here.server.requests) == 1


async def test_callbacks_hear_of_the_start_of_the_session(lab: MakeLab) -> None:
    here = lab([{"text": "hello"}, {"text": "again"}])
    heard: list[dict[str, Any]] = []

    async def start(given: Any, call_id: str | None, context: Any) -> Any:
        heard.append(given)
        added = "The deploy is frozen."
        return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": added}}

    hooks: Any = {"SessionStart": [HookMatcher(hooks=[start])]}
    async with here.client(hooks=hooks) as client:
        assert words(await exchange(client, "hi")) == "hello"
        assert words(await exchange(client, "and?")) == "again"
        notes = (await client.get_server_info() or {}).get("notes") or []
    assert [(given["hook_event_name"], given["source"]) for given in heard] == [("SessionStart", "startup")]
    assert "The deploy is frozen." in json.dumps(here.sent(0)["messages"])
    assert not [note for note in notes if "SessionStart" in note]


async def test_hooks_get_whole_paths(lab: MakeLab) -> None:
    read = {"calls": [{"call": "Read", "arguments": {"file_path": "sub/a.txt"}}]}
    here = lab([read, {"text": "done"}])
    (here.project / "sub").mkdir()
    (here.project / "sub" / "a.txt").write_text("alpha\n")
    heard: list[dict[str, Any]] = []

    async def look(given: Any, call_id: str | None, context: Any) -> Any:
        heard.append(given)
        return {}

    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[look])], "PostToolUse": [HookMatcher(hooks=[look])]}
    await collect(query(prompt="go", options=here.options(hooks=hooks)))
    whole = os.path.join(os.path.realpath(here.project), "sub", "a.txt")
    assert [os.path.realpath(given["tool_input"]["file_path"]) for given in heard] == [whole, whole]
    assert all(os.path.isabs(given["tool_input"]["file_path"]) for given in heard)
    assert os.path.isabs(heard[1]["tool_response"]["filePath"])


async def test_a_settings_file_of_claude_code(lab: MakeLab) -> None:
    here = lab([bash("printenv WORD"), {"text": "done"}])
    theirs = {
        "$schema": "https://json.schemastore.org/claude-code-settings.json",
        "permissions": {
            "allow": ["Bash(printenv *)", "Task(Explore)", "WebSearch(x)"],
            "deny": ["Read(./secrets/**)"],
            "defaultMode": "acceptEdits",
        },
        "env": {"WORD": "swordfish", "MAX_THINKING_TOKENS": "9000"},
        "outputStyle": "Explanatory",
        "statusLine": {"type": "command", "command": "date"},
        "enabledPlugins": {"x@y": True},
        "includeCoAuthoredBy": False,
    }
    file = here.project / "theirs.json"
    file.write_text(json.dumps(theirs))
    messages = await collect(query(prompt="go", options=here.options(settings=str(file), extra_args={"trust": None})))
    init = messages[0]
    assert isinstance(init, SystemMessage)
    assert (init.data["permissionMode"], init.data["output_style"]) == ("acceptEdits", "Explanatory")
    assert not result_of(messages).is_error
    assert "swordfish" in json.dumps(here.sent(1)["messages"])
    assert "# Output style: Explanatory" in json.dumps(here.sent(0)["system"])
    told = "\n".join(here.stderr)
    assert "not used here: statusLine, enabledPlugins, includeCoAuthoredBy, permissions.allow WebSearch(x)" in told


async def test_an_unknown_key_is_still_an_error(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    cases: list[tuple[dict[str, Any], str]] = [
        ({"permisions": {"deny": ["Bash"]}, "statusLine": {}}, "did you mean"),
        ({"permissions": {"denny": ["Bash"]}}, "did you mean"),
        ({"permissions": {"deny": ["SlashCommand(x)"]}, "statusLine": {}}, "SlashCommand takes no specifier"),
    ]
    for settings, words_told in cases:
        done = here.place.run("-p", "hi", "--settings", json.dumps(settings))
        assert (done.code, here.server.requests) == (2, [])
        assert words_told in done.err


@pytest.mark.parametrize(("tokens", "asked"), [("9000", 9000), ("0", None), ("many", None)])
async def test_max_thinking_tokens_of_the_environment(lab: MakeLab, tokens: str, asked: int | None) -> None:
    here = lab([{"text": "hi"}])
    model = "claude-haiku-4-5"
    options = here.options(env={"MAX_THINKING_TOKENS": tokens}, model=model)
    await collect(query(prompt="hi", options=options))
    thinking = here.sent().get("thinking") or {}
    assert thinking.get("budget_tokens") == asked
    assert ("expected a number" in "\n".join(here.stderr)) is (tokens == "many")


async def test_the_output_style_of_files_of_claude_code(lab: MakeLab) -> None:
    here = lab({"replies": [], "last": {"text": "hi"}})
    folder = here.project / ".claude"
    (folder / "output-styles").mkdir(parents=True)
    (folder / "settings.local.json").write_text(json.dumps({"outputStyle": "pirate"}))
    (folder / "output-styles" / "pirate.md").write_text("---\nname: pirate\n---\nSpeak like a pirate.\n")

    async def style(sources: list[Any] | None, **more: Any) -> str:
        options = here.options(setting_sources=sources, **more)
        init = (await collect(query(prompt="hi", options=options)))[0]
        assert isinstance(init, SystemMessage)
        return init.data["output_style"]

    assert await style(["user", "project", "local"]) == "default", "nobody trusts the project"
    assert await style(["user", "project", "local"], extra_args={"trust": None}) == "pirate"
    assert "Speak like a pirate." in json.dumps(here.sent()["system"])
    assert await style(["user"]) == "default"
    assert "pirate" not in json.dumps(here.sent()["system"])


async def test_the_sandbox_option_of_the_sdk(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    wanted: Any = {"enabled": True, "excludedCommands": ["docker"], "network": {"allowLocalBinding": True}}
    assert words(await collect(query(prompt="hi", options=here.options(sandbox=wanted)))) == "hi"
    assert "not used here: sandbox.excludedCommands, sandbox.network" in "\n".join(here.stderr)
