"""Hooks that live in the program: called over the control channel, at the moments and with the answers it knows."""

from typing import Any

import pytest
from claude_agent_sdk import ClaudeSDKClient, CLIConnectionError, HookMatcher, PermissionResultDeny, query

from sdk.conftest import MakeLab
from sdk.lab import bash, collect, exchange, result_of, words


class Hook:
    """A callback that answers as it is told and keeps what it was given."""

    def __init__(self, answer: Any = None) -> None:
        self._answer: Any = {} if answer is None else answer
        self.given: list[dict[str, Any]] = []
        self.calls: list[str | None] = []

    async def __call__(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        self.given.append(given)
        self.calls.append(tool_use_id)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def matching(hook: Hook, matcher: str | None = None, **more: Any) -> list[HookMatcher]:
    return [HookMatcher(matcher=matcher, hooks=[hook], **more)]


def decision(which: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": which, **more}}


async def test_before_and_after_a_call(lab: MakeLab) -> None:
    here = lab([bash("echo hi"), {"text": "done"}])
    before, after = Hook(), Hook()
    hooks: Any = {"PreToolUse": matching(before, "Bash"), "PostToolUse": matching(after)}
    options = here.options(hooks=hooks, permission_mode="bypassPermissions")
    await collect(query(prompt="go", options=options))
    (first,), (second,) = before.given, after.given
    assert (first["hook_event_name"], first["tool_name"]) == ("PreToolUse", "Bash")
    assert first["tool_input"] == {"command": "echo hi"}
    assert first["session_id"]
    assert first["cwd"] == str(here.project)
    assert first["permission_mode"] == "bypassPermissions"
    assert before.calls == [first["tool_use_id"]]
    assert second["hook_event_name"] == "PostToolUse"
    assert "hi" in str(second["tool_response"])


async def test_a_matcher_that_does_not_fit_is_not_called(lab: MakeLab) -> None:
    here = lab([bash("echo hi"), {"text": "done"}])
    hook = Hook()
    hooks: Any = {"PreToolUse": matching(hook, "Write|Edit")}
    await collect(query(prompt="go", options=here.options(hooks=hooks, permission_mode="bypassPermissions")))
    assert hook.given == []


async def test_a_hook_denies(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I see"}])
    hook = Hook(decision("deny", permissionDecisionReason="not on a Friday"))
    hooks: Any = {"PreToolUse": matching(hook)}
    async with here.client(hooks=hooks, permission_mode="bypassPermissions") as client:
        messages = await exchange(client, "go")
    assert not (here.project / "a.txt").exists()
    assert "not on a Friday" in str(here.sent()["messages"])
    assert words(messages) == "I see"


async def test_a_hook_allows_what_would_ask(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "done"}])
    here.place.run("-p", "/version", "--trust")

    async def never(tool: str, given: dict[str, Any], context: Any) -> PermissionResultDeny:
        raise AssertionError("nobody should be asked")

    hooks: Any = {"PreToolUse": matching(Hook(decision("allow")))}
    await collect(query(prompt="go", options=here.options(hooks=hooks, can_use_tool=never)))
    assert (here.project / "a.txt").exists()


async def test_a_hook_changes_the_input(lab: MakeLab) -> None:
    here = lab([bash("echo model > a.txt"), {"text": "done"}])
    hook = Hook(decision("allow", updatedInput={"command": "echo hook > a.txt"}))
    hooks: Any = {"PreToolUse": matching(hook)}
    await collect(query(prompt="go", options=here.options(hooks=hooks, permission_mode="bypassPermissions")))
    assert (here.project / "a.txt").read_text() == "hook\n"


async def test_a_hook_that_asks_brings_the_callback_in(lab: MakeLab) -> None:
    here = lab([bash("echo yes > a.txt"), {"text": "I see"}])
    asked: list[Any] = []

    async def deny(tool: str, given: dict[str, Any], context: Any) -> PermissionResultDeny:
        asked.append(context.decision_reason)
        return PermissionResultDeny(message="no")

    hook = Hook(decision("ask", permissionDecisionReason="look at this"))
    hooks: Any = {"PreToolUse": matching(hook)}
    async with here.client(hooks=hooks, can_use_tool=deny, permission_mode="acceptEdits") as client:
        await exchange(client, "go")
    assert "look at this" in asked[0]
    assert not (here.project / "a.txt").exists()


async def test_a_prompt_can_be_added_to_and_refused(lab: MakeLab) -> None:
    here = lab([{"text": "one"}])
    more = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "It is Tuesday."}}
    adding = Hook(more)
    hooks: Any = {"UserPromptSubmit": matching(adding)}
    await collect(query(prompt="which day?", options=here.options(hooks=hooks)))
    assert adding.given[0]["prompt"] == "which day?"
    assert "It is Tuesday." in str(here.sent()["messages"])
    blocking: Any = {"UserPromptSubmit": matching(Hook({"decision": "block", "reason": "not this"}))}
    async with here.client(hooks=blocking) as client:
        refused = await exchange(client, "which day?")
    assert "not this" in str(refused)
    assert len(here.server.requests) == 1


async def test_a_stop_hook_lets_the_model_go_on(lab: MakeLab) -> None:
    here = lab([{"text": "done?"}, {"text": "now it is"}])

    class Once(Hook):
        async def __call__(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
            self.given.append(given)
            return {} if given["stop_hook_active"] else {"decision": "block", "reason": "run the tests first"}

    hook = Once()
    hooks: Any = {"Stop": matching(hook)}
    messages = await collect(query(prompt="go", options=here.options(hooks=hooks)))
    assert result_of(messages).result == "now it is"
    assert "run the tests first" in str(here.sent()["messages"])
    assert [given["stop_hook_active"] for given in hook.given] == [False, True]


async def test_a_hook_that_fails_has_no_say_unless_it_must(lab: MakeLab) -> None:
    script = [bash("echo 1 > a.txt"), {"text": "one"}, bash("echo 2 > b.txt"), {"text": "two"}]
    here = lab(script)
    for on_failure, name in (("continue", "a.txt"), ("block", "b.txt")):
        hooks: Any = {"PreToolUse": matching(Hook(RuntimeError("boom")), on_failure=on_failure)}
        async with here.client(hooks=hooks, permission_mode="bypassPermissions") as client:
            await exchange(client, "go")
        assert (here.project / name).exists() is (on_failure == "continue")


async def test_two_hooks_of_one_moment_are_both_called(lab: MakeLab) -> None:
    here = lab([bash("echo hi"), {"text": "done"}])
    one, two = Hook(), Hook(decision("deny", permissionDecisionReason="second"))
    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[one, two])]}
    async with here.client(hooks=hooks, permission_mode="bypassPermissions") as client:
        await exchange(client, "go")
    assert (len(one.given), len(two.given)) == (1, 1)
    assert "second" in str(here.sent()["messages"])


async def test_a_failed_call_has_a_moment_of_its_own(lab: MakeLab) -> None:
    here = lab([bash("exit 3"), {"text": "done"}])
    hook = Hook()
    hooks: Any = {"PostToolUseFailure": matching(hook)}
    await collect(query(prompt="go", options=here.options(hooks=hooks, permission_mode="bypassPermissions")))
    (given,) = hook.given
    assert given["hook_event_name"] == "PostToolUseFailure"
    assert given["error"]


async def test_before_the_window_is_made_smaller(lab: MakeLab) -> None:
    here = lab([{"text": "one"}, {"text": "a summary"}])
    hook = Hook()
    hooks: Any = {"PreCompact": matching(hook)}
    async with here.client(hooks=hooks) as client:
        await exchange(client, "a")
        await exchange(client, "/compact")
    assert [(given["hook_event_name"], given["trigger"]) for given in hook.given] == [("PreCompact", "manual")]


async def test_hooks_run_where_several_turns_need_them(lab: MakeLab) -> None:
    here = lab([bash("echo 1"), {"text": "one"}, bash("echo 2"), {"text": "two"}])
    hook = Hook()
    hooks: Any = {"PreToolUse": matching(hook)}
    async with here.client(hooks=hooks, permission_mode="bypassPermissions") as client:
        await exchange(client, "a")
        await exchange(client, "b")
    assert [given["tool_input"]["command"] for given in hook.given] == ["echo 1", "echo 2"]


async def test_a_moment_that_never_comes_is_told_at_the_start(lab: MakeLab) -> None:
    here = lab([{"text": "hi"}])
    hooks: Any = {"PermissionRequest": matching(Hook())}
    async with here.client(hooks=hooks) as client:
        info = await client.get_server_info()
        assert words(await exchange(client, "hi")) == "hi"
    assert info is not None
    assert "PermissionRequest" in info["notes"][0]


async def test_a_guard_that_would_never_run_is_refused(lab: MakeLab) -> None:
    here = lab([])
    hooks: Any = {"PermissionRequest": matching(Hook(), on_failure="block")}
    with pytest.raises(Exception, match="PermissionRequest"):
        await ClaudeSDKClient(here.options(hooks=hooks)).connect()


async def test_a_hook_that_must_block_is_promised_at_the_start(lab: MakeLab) -> None:
    here = lab([])
    hooks: Any = {"PreToolUse": matching(Hook(), on_failure="block")}
    try:
        async with here.client(hooks=hooks) as client:
            assert await client.get_server_info()
    except CLIConnectionError as error:
        raise AssertionError("on_failure is supported") from error
