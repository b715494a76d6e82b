"""The one result of a turn."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from clew.llm.errors import ServerFailed
from clew.llm.scripted import Call, Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    Event,
    ReplyReceived,
    StructuredOutputReady,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId, EntryId, MessageId, RequestId
from clew.protocol.messages import ToolResultPart
from clew.protocol.outcome import TurnOutcome
from clew.protocol.usage import Usage
from clew.streaming.results import failed_result, result_of
from engine.harness import Reader, Shell, Stage
from unit.host.room import STARTED


def json_of(value: Any) -> dict[str, Any]:
    return json.loads(msgspec.json.encode(value))


def outcome_of(events: list[Any]) -> TurnOutcome:
    outcome = TurnOutcome()
    for event in [STARTED, *events]:
        outcome.feed(event)
    return outcome


def document(outcome: TurnOutcome) -> dict[str, Any]:
    return json_of(result_of(outcome))


def ended(reason: Any, **more: Any) -> TurnEnded:
    return TurnEnded(turn=1, reason=reason, steps=1, duration_ms=5, **more)


@pytest.mark.parametrize(
    ("reason", "subtype", "terminal", "code"),
    [
        ("completed", "success", "completed", 0),
        ("max_turns", "error_max_turns", "max_turns", 1),
        ("max_budget", "error_max_budget_usd", "max_budget", 1),
        ("no_structured_output", "error_max_structured_output_retries", "no_structured_output", 1),
        ("model_error", "success", "api_error", 1),
        ("stopped_by_hook", "error_during_execution", "stop_hook_prevented", 1),
        ("interrupted", "error_during_execution", "aborted_streaming", 130),
        ("refusal", "error_during_execution", "refusal", 1),
    ],
)
def test_how_a_turn_ended(reason: str, subtype: str, terminal: str, code: int) -> None:
    outcome = outcome_of([TurnStarted(turn=1), ended(reason)])
    result = document(outcome)
    assert (result["subtype"], result["terminal_reason"], outcome.exit_code) == (subtype, terminal, code)
    assert result["is_error"] == (reason != "completed")
    assert result["errors"] == ([result["error"]] if reason not in ("completed", "model_error") else [])
    if reason == "model_error":
        assert result["result"] == f"API Error: {result['error']}"


async def test_a_completed_turn_tells_the_models_own_stop_reason_and_what_each_model_used() -> None:
    stage = Stage(ScriptedModel([Call("Reader", {"name": "a"}), Say("Done.")], usd_per_token=0.001), [Reader()])
    await stage.play()
    result = document(outcome_of(stage.events))
    assert (result["result"], result["stop_reason"], result["num_turns"]) == ("Done.", "end_turn", 2)
    assert result["modelUsage"]["scripted/model"] == {
        "inputTokens": 200,
        "outputTokens": 20,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "requests": 2,
        "webSearchRequests": 0,
        "costUSD": pytest.approx(0.22),
        "contextWindow": 200_000,
        "maxOutputTokens": 64_000,
    }
    assert result["total_cost_usd"] == pytest.approx(0.22)
    assert result["uuid"]


async def test_a_model_that_never_answered_has_no_window_that_anybody_knows() -> None:
    stage = Stage(ScriptedModel([Fail(ServerFailed("500"))]))
    await stage.play()
    result = document(outcome_of(stage.events))
    assert result["modelUsage"]["scripted/model"]["contextWindow"] is None
    assert (result["is_error"], result["terminal_reason"]) == (True, "api_error")


async def test_an_interrupt_while_words_come_and_while_a_tool_runs_are_told_apart() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    stage = Stage(ScriptedModel([ReplyOf([Say("So."), Wait(hold, reached)])]))
    turn = asyncio.create_task(stage.play())
    await reached.wait()
    stage.abort.throw()
    await turn
    assert outcome_of(stage.events).terminal_reason == "aborted_streaming"

    stage = Stage(ScriptedModel([Call("Shell", {"name": "hang"})]), [Shell()])

    def stop(event: Event) -> None:
        if isinstance(event, ReplyReceived):
            stage.abort.throw()

    await stage.play(on=stop)
    assert outcome_of(stage.events).terminal_reason == "aborted_tools"


def called(name: str, *, is_error: bool = False, call_id: str = "c") -> ToolEnded:
    part = ToolResultPart(call_id=CallId(call_id), content="x", is_error=is_error)
    return ToolEnded(entry_id=EntryId("r"), parent_id=EntryId("e"), name=name, result=part)


async def test_structured_output_is_what_its_tool_was_called_with_or_what_the_engine_says() -> None:
    stage = Stage(ScriptedModel([Call("StructuredOutput", {"answer": 42}, id="c"), Say("Done.")]))
    await stage.play()
    failed = outcome_of(stage.events)
    assert "structured_output" not in document(failed), "the tool is unknown here, so the call failed"
    parts = [event for event in stage.events if not isinstance(event, ToolEnded)]
    given = outcome_of([*parts[:-1], called("StructuredOutput"), parts[-1]])
    assert document(given)["structured_output"] == {"answer": 42}
    told = outcome_of([*stage.events, StructuredOutputReady(value=None)])
    assert document(told)["structured_output"] is None
    again = outcome_of([*stage.events, StructuredOutputReady(value=[1]), TurnStarted(turn=2), ended("completed")])
    assert "structured_output" not in document(again), "it belongs to the turn before"


async def test_a_denial_names_the_call_and_its_input() -> None:
    stage = Stage(ScriptedModel([Call("Reader", {"name": "a"}, id="c"), Say("Done.")]), [Reader()])
    await stage.play()
    no = ApprovalResolved(
        request_id=RequestId("q"), call_id=CallId("c"), tool="Reader", subject="a", decision="deny", by="nobody"
    )
    (denial,) = document(outcome_of([*stage.events, no]))["permission_denials"]
    assert (denial["tool_name"], denial["tool_use_id"], denial["tool_input"]) == ("Reader", "c", {"name": "a"})


def test_a_second_turn_has_its_own_usage_and_denials_and_the_money_adds_up() -> None:
    def used(tokens: int) -> AttemptEnded:
        usage = Usage(input_tokens=tokens, output_tokens=1)
        return AttemptEnded(
            reply_id=MessageId("m"), step=1, model="m", outcome="completed", usage=usage, cost_usd=1.0, api_ms=10
        )

    no = ApprovalResolved(
        request_id=RequestId("q"), call_id=CallId("c"), tool="T", subject="a", decision="deny", by="user"
    )
    first = [TurnStarted(turn=1), used(10), no, ended("completed")]
    result = document(outcome_of([*first, TurnStarted(turn=2), used(5), ended("completed")]))
    assert result["usage"]["input_tokens"] == 5
    assert result["modelUsage"]["m"]["inputTokens"] == 15
    assert (result["total_cost_usd"], result["duration_api_ms"], result["permission_denials"]) == (2.0, 10, [])


def test_a_run_that_never_came_to_a_turn_has_every_field_of_a_result() -> None:
    result = json_of(failed_result("no key"))
    assert (result["subtype"], result["is_error"], result["error"], result["errors"]) == (
        "error_during_execution",
        True,
        "no key",
        ["no key"],
    )
    whole = document(outcome_of([TurnStarted(turn=1), ended("completed")]))
    assert set(whole) <= set(result)
