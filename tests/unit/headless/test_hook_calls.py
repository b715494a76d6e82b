"""Callbacks of the program: how they are registered, called, answered and taken back."""

from typing import Any

import msgspec

from clew.headless.hook_calls import HookCalls, callback_hooks
from clew.protocol.events import HookCalled, HookCallWithdrawn
from clew.protocol.ids import CallId, RequestId
from clew.protocol.ops import AnswerHookCall, CallbackHook
from clew.streaming.shapes.control import HookMatcherGiven
from unit.headless.program import Program, WrittenSession, soon

CALLED = HookCalled(
    request_id=RequestId("h1"),
    callback_id="hook_3",
    input={"hook_event_name": "PreToolUse", "tool_name": "Bash"},
    call_id=CallId("call_1"),
)


def lab() -> tuple[WrittenSession, Program, HookCalls]:
    session, program = WrittenSession(), Program()
    return session, program, HookCalls(session, program.channel)


async def test_a_callback_is_called_and_what_it_says_goes_to_the_host_word_for_word() -> None:
    session, program, calls = lab()
    calls.take(CALLED)
    await soon(lambda: program.requests)
    assert program.requests[0]["request"] == {
        "subtype": "hook_callback",
        "callback_id": "hook_3",
        "input": {"hook_event_name": "PreToolUse", "tool_name": "Bash"},
        "tool_use_id": "call_1",
    }
    said: dict[str, Any] = {"continue": False, "hookSpecificOutput": {"permissionDecision": "deny"}}
    program.succeed(said)
    await soon(lambda: session.ops)
    assert session.ops == [AnswerHookCall(request_id=RequestId("h1"), output=said)]


async def test_a_callback_that_raises_is_told_as_a_failure() -> None:
    session, program, calls = lab()
    calls.take(CALLED)
    await soon(lambda: program.requests)
    program.fail("boom")
    await soon(lambda: session.ops)
    assert session.ops == [AnswerHookCall(request_id=RequestId("h1"), error="boom")]


async def test_a_callback_nobody_waits_for_is_taken_back() -> None:
    session, program, calls = lab()
    calls.take(CALLED)
    await soon(lambda: program.requests)
    calls.take(HookCallWithdrawn(request_id=RequestId("h1")))
    await soon(lambda: program.cancelled)
    assert program.cancelled == [program.requests[0]["request_id"]]
    assert not session.ops


async def test_a_program_that_is_gone_failed() -> None:
    session, program, calls = lab()
    program.channel.close()
    calls.take(CALLED)
    await soon(lambda: session.ops)
    (answer,) = session.asked(AnswerHookCall)
    assert "closed stdin" in answer.error


def test_a_registration_is_a_hook_for_each_callback() -> None:
    given = msgspec.convert(
        {
            "PreToolUse": [
                {"matcher": "Bash", "hookCallbackIds": ["hook_0", "hook_1"], "timeout": 5, "onFailure": "block"},
                {"matcher": None, "hookCallbackIds": ["hook_2"], "onFailure": "continue"},
            ],
            "Stop": [{"hookCallbackIds": ["hook_3"], "onFailure": "something later"}],
        },
        type=dict[str, tuple[HookMatcherGiven, ...]],
    )
    assert callback_hooks(given) == (
        CallbackHook(callback_id="hook_0", moment="PreToolUse", matcher="Bash", timeout_s=5, blocks_on_failure=True),
        CallbackHook(callback_id="hook_1", moment="PreToolUse", matcher="Bash", timeout_s=5, blocks_on_failure=True),
        CallbackHook(callback_id="hook_2", moment="PreToolUse", timeout_s=60),
        CallbackHook(callback_id="hook_3", moment="Stop", timeout_s=60, blocks_on_failure=True),
    )
