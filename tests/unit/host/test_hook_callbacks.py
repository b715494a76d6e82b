"""Hooks of a driving program: called by an event with an id, answered by an op with it, and not waited for in vain."""

from pathlib import Path
from typing import Any

import pytest

from clew.llm.scripted import Call, Say
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    HookCalled,
    HookCallWithdrawn,
    HookRan,
    Notice,
    OpRejected,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import OpId, RequestId
from clew.protocol.ops import AnswerApproval, AnswerHookCall, CallbackHook, Interrupt, RegisterHooks, SubmitPrompt
from unit.host.hook_lab import HookLab, hook, session


@pytest.fixture
def place(tmp_path: Path) -> HookLab:
    return HookLab(tmp_path)


def touch() -> Call:
    return Call("Bash", {"command": "touch made", "description": "test"})


async def registered(place: HookLab, **more: Any) -> None:
    fields: dict[str, Any] = {"callback_id": "cb_0", "moment": "PreToolUse", "matcher": "Bash"} | more
    callback = CallbackHook(**fields)
    await place.front.submit(RegisterHooks(hooks=(callback,)))
    await place.front.submit(SubmitPrompt(content="go"))


async def test_a_callback_is_asked_with_the_document_and_may_allow(place: HookLab) -> None:
    async with session(place, [touch(), Say("ok")], headless=True):
        await registered(place)
        called = await place.front.until(HookCalled)
        assert called.callback_id == "cb_0"
        assert called.input["hook_event_name"] == "PreToolUse"
        assert called.input["tool_input"]["command"] == "touch made"
        assert called.call_id == called.input["tool_use_id"]
        output = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
        await place.front.submit(AnswerHookCall(request_id=called.request_id, output=output))
        await place.front.until(TurnEnded)
        (resolved,) = place.front.of(ApprovalResolved)
        assert (resolved.by, resolved.rule) == ("hook", "cb_0")
        assert (place.project / "made").exists()
        assert not place.front.of(HookCallWithdrawn)


async def test_an_answer_counts_once_and_only_for_what_waits(place: HookLab) -> None:
    async with session(place, [touch(), Say("ok")]):
        await registered(place)
        called = await place.front.until(HookCalled)
        output = {"decision": "block", "reason": "no"}
        wrong = AnswerHookCall(op_id=OpId("wrong"), request_id=RequestId("made-up"), output={"decision": "approve"})
        await place.front.submit(wrong)
        assert (await place.front.until(OpRejected)).op_id == "wrong"
        await place.front.submit(AnswerHookCall(request_id=called.request_id, output=output))
        await place.front.submit(AnswerHookCall(op_id=OpId("late"), request_id=called.request_id))
        assert (await place.front.until(OpRejected, 2)).op_id == "late"
        await place.front.until(TurnEnded)
        assert place.front.of(ApprovalResolved)[0].reason == "no"


@pytest.mark.parametrize("blocks", [False, True])
async def test_a_callback_that_never_answers_holds_nobody_for_ever(place: HookLab, blocks: bool) -> None:
    async with session(place, [Call("Bash", {"command": "echo hi", "description": "t"}), Say("ok")]):
        await registered(place, timeout_s=0.2, blocks_on_failure=blocks)
        called = await place.front.until(HookCalled)
        withdrawn = await place.front.until(HookCallWithdrawn)
        assert withdrawn.request_id == called.request_id
        await place.front.until(TurnEnded)
        assert place.front.of(ToolEnded)[0].refused is blocks
        assert place.front.of(HookRan)[0].outcome == "timed_out"


@pytest.mark.parametrize("answer", [{"error": "it raised"}, {"output": {"decision": 7}}])
async def test_a_callback_that_fails_is_told_and_refuses_only_where_it_wants_that(
    place: HookLab, answer: dict[str, Any]
) -> None:
    async with session(place, [Call("Bash", {"command": "echo hi", "description": "t"}), Say("ok")]):
        await registered(place, blocks_on_failure=True)
        called = await place.front.until(HookCalled)
        await place.front.submit(AnswerHookCall(request_id=called.request_id, **answer))
        await place.front.until(TurnEnded)
        assert place.front.of(HookRan)[0].outcome == "failed"
        assert place.front.of(ToolEnded)[0].refused


async def test_an_interrupt_withdraws_what_was_asked(place: HookLab) -> None:
    async with session(place, [touch(), Say("ok")]):
        await registered(place, timeout_s=300.0)
        called = await place.front.until(HookCalled)
        await place.front.submit(Interrupt())
        assert (await place.front.until(TurnEnded)).reason == "interrupted"
        assert [event.request_id for event in place.front.of(HookCallWithdrawn)] == [called.request_id]


async def test_callbacks_and_commands_answer_together_and_the_strictest_counts(place: HookLab) -> None:
    place.user({"PreToolUse": [hook(place.says("no", code=2, err="the command says no"))]})
    async with session(place, [touch(), Say("ok")]):
        await registered(place)
        called = await place.front.until(HookCalled)
        output = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
        await place.front.submit(AnswerHookCall(request_id=called.request_id, output=output))
        await place.front.until(TurnEnded)
        assert place.front.of(ApprovalResolved)[0].reason == "the command says no"
    assert len(place.seen("no")) == 1


async def test_registering_again_takes_the_place_of_what_was_before(place: HookLab) -> None:
    async with session(place, [touch(), Say("ok")]):
        await place.front.submit(RegisterHooks(hooks=(CallbackHook(callback_id="old", moment="PreToolUse"),)))
        await registered(place, callback_id="new")
        called = await place.front.until(HookCalled)
        assert called.callback_id == "new"
        await place.front.submit(AnswerHookCall(request_id=called.request_id))
        asked = await place.front.until(ApprovalRequested)
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="deny"))
        await place.front.until(TurnEnded)
        assert len(place.front.of(HookCalled)) == 1


async def test_a_moment_that_nobody_calls_is_told(place: HookLab) -> None:
    async with session(place, [Say("ok")]):
        await place.front.submit(RegisterHooks(hooks=(CallbackHook(callback_id="x", moment="PermissionRequest"),)))
        assert "PermissionRequest" in (await place.front.until(Notice)).text


async def test_who_answers_an_approval_may_change_the_input(place: HookLab) -> None:
    async with session(place, [touch(), Say("ok")]):
        await place.front.submit(SubmitPrompt(content="go"))
        asked = await place.front.until(ApprovalRequested)
        changed = {"command": "touch other", "description": "test"}
        await place.front.submit(AnswerApproval(request_id=asked.request_id, decision="allow", arguments=changed))
        await place.front.until(TurnEnded)
    assert (place.project / "other").exists()
    assert not (place.project / "made").exists()
