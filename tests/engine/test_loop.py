"""The agent loop: cases AL-1 to AL-12 of the specification."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from clew.engine.loop import WAYS_ON
from clew.engine.middleware.base import Middleware
from clew.engine.ports import Limits
from clew.engine.turn import Prompt
from clew.engine.turn import Turn as EngineTurn
from clew.llm.errors import InvalidRequest, LLMError, Overloaded, PromptTooLong, StreamBroken
from clew.llm.reply import ReplyEvent
from clew.llm.request import ModelRequest
from clew.llm.scripted import BreakAfter, Call, Fail, ReplyOf, Say, ScriptedModel, Think, Wait
from clew.permissions.access import Verdict
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    ArgumentsDelta,
    AttemptEnded,
    CompactionEnded,
    Event,
    ModelChanged,
    Notice,
    PartCompleted,
    PromptAccepted,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    RuleOffer,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import new_entry_id
from clew.protocol.messages import parts_of, text_of
from clew.protocol.ops import AnswerApproval
from engine.harness import Reader, Shell, Stage, TestHost, Writer, asks


async def test_al_1_a_tool_starts_before_the_stream_ends_and_two_requests_are_made() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    call = Call("Reader", {"name": "a"})
    model = ScriptedModel([ReplyOf([Say("I will look."), call, Wait(hold, reached)]), Say("Done.")])
    stage = Stage(model, [Reader()])
    stream_open_when_tool_ended: list[bool] = []

    def watch(event: Event) -> None:
        if isinstance(event, ToolEnded):
            stream_open_when_tool_ended.append(not hold.is_set())
            hold.set()

    ended = await stage.play(on=watch)
    assert ended.reason == "completed"
    assert stream_open_when_tool_ended == [True]
    assert len(model.requests) == 2
    assert [type(event) for event in stage.events] == [
        TurnStarted,
        PromptAccepted,
        StepStarted,
        ReplyBegan,
        TextDelta,
        PartCompleted,
        ArgumentsDelta,
        PartCompleted,
        ToolStarted,
        ToolEnded,
        ReplyReceived,
        AttemptEnded,
        StepEnded,
        StepStarted,
        ReplyBegan,
        TextDelta,
        PartCompleted,
        ReplyReceived,
        AttemptEnded,
        StepEnded,
        TurnEnded,
    ]


async def test_al_2_a_tool_call_is_run_whatever_the_stop_reason_says() -> None:
    model = ScriptedModel([ReplyOf([Call("Reader", {"name": "a"})], stop_reason="end_turn"), Say("Done.")])
    stage = Stage(model, [Reader()])
    await stage.play()
    assert len(model.requests) == 2
    assert stage.results()["call_1"].content == "content of a"


class OneCompaction(Middleware):
    """Makes room as often as it is asked: the conversation starts anew at a boundary."""

    def __init__(self) -> None:
        self.calls = 0

    async def before_step(self, turn: EngineTurn) -> AsyncGenerator[Event]:
        if turn.full is None:
            return
        self.calls += 1
        turn.full = None
        boundary = new_entry_id()
        yield CompactionEnded(
            entry_id=boundary,
            logical_parent_id=turn.agent.conversation.leaf,
            kind="reactive",
            tokens_before=100,
            tokens_after=1,
        )
        yield replace(turn.accept("[What was said before, in short.]"), parent_id=boundary)


async def test_al_3_a_prompt_too_long_is_compacted_once_and_no_error_is_seen() -> None:
    compaction = OneCompaction()
    model = ScriptedModel([Fail(PromptTooLong("too long")), Say("Done.")])
    stage = Stage(model, middlewares=[compaction])
    ended = await stage.play()
    assert (ended.reason, ended.error, compaction.calls) == ("completed", "", 1)
    assert not stage.of(Notice)
    assert [text_of(parts_of(message)) for message in model.requests[-1].messages] == [
        "[What was said before, in short.]"
    ]


async def test_al_4_a_prompt_always_too_long_is_compacted_once_and_the_error_shown_once() -> None:
    compaction = OneCompaction()
    model = ScriptedModel([Fail(PromptTooLong("too long"))] * 5)
    stage = Stage(model, middlewares=[compaction])
    ended = await stage.play()
    assert (ended.reason, ended.error) == ("prompt_too_long", f"too long. {WAYS_ON}")
    assert compaction.calls == 1
    assert len(model.requests) == 2


async def test_without_a_compactor_a_prompt_too_long_is_reported_once() -> None:
    model = ScriptedModel([Fail(PromptTooLong("too long"))])
    ended = await Stage(model).play()
    assert (ended.reason, ended.error, len(model.requests)) == ("prompt_too_long", f"too long. {WAYS_ON}", 1)


async def test_al_5_output_limit_one_raised_cap_then_three_hidden_resumes_then_the_error() -> None:
    model = ScriptedModel([ReplyOf([Say("part")], stop_reason="max_tokens")] * 10)
    stage = Stage(model)
    ended = await stage.play()
    assert ended.reason == "output_limit"
    assert [request.max_output_tokens for request in model.requests] == [None, 64_000, None, None, None]
    assert len([prompt for prompt in stage.prompts() if prompt.hidden]) == 3
    assert len(stage.of(ReplyWithdrawn)) == 1


async def test_a_cap_set_by_the_user_is_never_raised() -> None:
    model = ScriptedModel([ReplyOf([Say("part")], stop_reason="max_tokens"), Say("rest")])
    stage = Stage(model, max_output_tokens=500)
    assert (await stage.play()).reason == "completed"
    assert [request.max_output_tokens for request in model.requests] == [500, 500]


async def test_a_whole_call_in_a_reply_cut_at_the_limit_is_still_run() -> None:
    cut = ReplyOf([Call("Reader", {"name": "a"})], stop_reason="max_tokens")
    stage = Stage(ScriptedModel([cut, Say("Done.")]), [Reader()])
    assert (await stage.play()).reason == "completed"
    assert not stage.of(ReplyWithdrawn)


async def test_al_6_overload_switches_to_the_fallback_and_names_both_models() -> None:
    fallback = ScriptedModel([Say("From the second.")], name="other/model")
    overloaded = BreakAfter([Think("hm"), Call("Reader", {"name": "a"})], Overloaded("no capacity"))
    model = ScriptedModel([overloaded])
    stage = Stage(model, [Reader()], fallback=fallback)
    ended = await stage.play()
    assert ended.reason == "completed"
    (warning,) = stage.of(Notice)
    assert warning.level == "warning"
    assert "scripted/model" in warning.text
    assert "other/model" in warning.text
    assert [event.model for event in stage.of(ModelChanged)] == ["other/model"]
    assert "hm" not in str(fallback.requests[0].messages)
    assert model.closed


async def test_al_7_after_a_broken_stream_only_the_second_attempt_stands() -> None:
    broken = BreakAfter([Say("first"), Call("Reader", {"name": "a"}, id="lost")], StreamBroken("cut"))
    retry = ReplyOf([Say("second"), Call("Reader", {"name": "b"}, id="kept")])
    model = ScriptedModel([broken, retry, Say("Done.")])
    stage = Stage(model, [Reader()])
    assert (await stage.play()).reason == "completed"
    (withdrawn,) = stage.of(ReplyWithdrawn)
    first = [event.entry_id for event in stage.of(PartCompleted) if event.reply_id == withdrawn.reply_id]
    assert set(first) <= set(withdrawn.entry_ids)
    stage.assert_settled()
    text = str(model.requests[-1].messages)
    assert "second" in text
    assert "first" not in text
    assert "lost" not in text


async def test_a_second_break_ends_the_turn_with_the_error() -> None:
    model = ScriptedModel([BreakAfter([Say("a")], StreamBroken("cut")), Fail(StreamBroken("cut again"))])
    stage = Stage(model)
    ended = await stage.play()
    assert (ended.reason, ended.error) == ("model_error", "cut again")
    assert len(stage.of(ReplyWithdrawn)) == 1


async def test_al_8_interrupt_while_two_tools_run_leaves_every_call_with_one_result() -> None:
    gates = {"a": asyncio.Event(), "b": asyncio.Event()}
    calls = [Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"}), Call("Shell", {"name": "c"})]
    model = ScriptedModel([ReplyOf(calls), Say("Going on.")])
    stage = Stage(model, [Reader(gates=gates), Shell()])

    def interrupt(event: Event) -> None:
        if isinstance(event, ToolStarted) and event.call.id == "call_2":
            stage.abort.throw()

    assert (await stage.play(on=interrupt)).reason == "interrupted"
    stage.assert_settled()
    assert all(result.is_error for result in stage.results().values())
    assert stage.prompts()[-1].content == "[Request interrupted by user]"
    assert (await stage.play("go on")).reason == "completed"
    roles = [message.role for message in model.requests[-1].messages]
    assert roles.count("assistant") == 1


async def test_al_9_interrupt_before_any_content_keeps_the_prompt() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    stage = Stage(ScriptedModel([ReplyOf([Wait(hold, reached), Say("never")])]))
    turn = asyncio.create_task(stage.play("remember me"))
    await reached.wait()
    stage.abort.throw()
    assert (await turn).reason == "interrupted"
    assert stage.prompts()[0].content == "remember me"
    assert not stage.of(PartCompleted)
    assert stage.model.closed_streams == 1


async def test_what_was_streamed_before_an_interrupt_is_kept() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()

    class Halting(ScriptedModel):
        """Streams some words and then hangs inside the part."""

        async def stream(self, request: ModelRequest, *, whole: bool = False) -> AsyncGenerator[ReplyEvent]:
            async for event in super().stream(request, whole=whole):
                yield event
                if type(event).__name__ == "TextChunk":
                    reached.set()
                    await hold.wait()

    stage = Stage(Halting([Say("These words were seen by the user and must stay.")]))
    turn = asyncio.create_task(stage.play())
    await reached.wait()
    stage.abort.throw()
    await turn
    (part,) = stage.of(PartCompleted)
    assert part.part.text == "These words were seen by"


async def test_al_10_max_turns_records_the_result_and_sends_no_second_request() -> None:
    model = ScriptedModel([Call("Reader", {"name": "a"}), Say("never")])
    stage = Stage(model, [Reader()], limits=Limits(max_steps=1))
    ended = await stage.play()
    assert ended.reason == "max_turns"
    assert len(model.requests) == 1
    assert stage.results()["call_1"].content == "content of a"


async def test_the_money_budget_stops_before_the_next_request() -> None:
    model = ScriptedModel([Call("Reader", {"name": "a"}), Say("never")], usd_per_token=1.0)
    stage = Stage(model, [Reader()], limits=Limits(max_budget_usd=0.001))
    ended = await stage.play()
    assert ended.reason == "max_budget"
    assert len(model.requests) == 1
    stage.assert_settled()


async def test_an_unknown_price_is_told_when_a_budget_is_set() -> None:
    model = ScriptedModel([Call("Reader", {"name": "a"}), Call("Reader", {"name": "b"}), Say("x")])
    stage = Stage(model, [Reader()], limits=Limits(max_budget_usd=0.001))
    await stage.play()
    assert [notice.code for notice in stage.of(Notice)] == ["unpriced"]


async def test_al_11_requests_are_bounded_even_when_every_recovery_fires() -> None:
    failing: list[LLMError] = [PromptTooLong("long"), StreamBroken("cut"), Overloaded("busy"), StreamBroken("cut")]
    model = ScriptedModel([Fail(error) for error in failing] * 5)
    fallback = ScriptedModel([Fail(error) for error in failing] * 5, name="other/model")
    stage = Stage(model, fallback=fallback, middlewares=[OneCompaction()])
    ended = await stage.play()
    assert ended.reason in ("model_error", "prompt_too_long")
    assert len(model.requests) + len(fallback.requests) <= 6


async def test_al_12_input_typed_while_a_tool_runs_joins_the_same_turn() -> None:
    model = ScriptedModel([Call("Reader", {"name": "a"}), Say("Understood.")])
    stage = Stage(model, [Reader()])

    def type_ahead(event: Event) -> None:
        if isinstance(event, ToolStarted):
            stage.inbox.append(Prompt(content="also look at b"))

    assert (await stage.play(on=type_ahead)).reason == "completed"
    assert [prompt.content for prompt in stage.prompts()] == ["go", "also look at b"]
    assert stage.prompts()[1].queued
    assert "also look at b" in str(model.requests[1].messages)
    assert "interrupted" not in str(model.requests[1].messages)


async def test_an_empty_answer_is_told_unless_something_was_done() -> None:
    ended = await Stage(ScriptedModel([ReplyOf([])])).play()
    assert ended.reason == "empty_answer"
    assert "nothing" in ended.error
    read = Stage(ScriptedModel([Call("Reader", {"name": "a"}), ReplyOf([])]), [Reader()])
    assert (await read.play()).reason == "empty_answer"
    written = Stage(ScriptedModel([Call("Writer", {"name": "a"}), ReplyOf([])]), [Writer()])
    assert (await written.play()).reason == "completed"


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("refusal", "refusal"),
        ("content_filter", "content_filter"),
        ("model_context_window_exceeded", "window_exceeded"),
    ],
)
async def test_what_is_no_answer_does_not_pass_for_one(stop_reason: str, reason: str) -> None:
    ended = await Stage(ScriptedModel([ReplyOf([Say("I")], stop_reason=stop_reason)])).play()
    assert ended.reason == reason
    assert ended.error


async def test_a_call_written_as_text_is_told() -> None:
    written = Say('```json\n{"name": "Reader", "arguments": {"name": "a"}}\n```')
    ended = await Stage(ScriptedModel([written]), [Reader()]).play()
    assert ended.reason == "text_call"
    plain = await Stage(ScriptedModel([Say('{"name": "Nobody", "arguments": {}}')]), [Reader()]).play()
    assert plain.reason == "completed"


async def test_an_error_of_the_provider_ends_the_turn_once_and_the_next_turn_works() -> None:
    model = ScriptedModel([Fail(InvalidRequest("bad request")), Say("Fine now.")])
    stage = Stage(model)
    ended = await stage.play()
    assert (ended.reason, ended.error) == ("model_error", "bad request")
    assert (await stage.play("again")).reason == "completed"


async def test_bytes_already_sent_never_change() -> None:
    calls = [Call("Reader", {"name": str(number)}) for number in range(5)]
    model = ScriptedModel([*calls, Say("Done.")])
    stage = Stage(model, [Reader()])
    await stage.play()
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.tools) == (earlier.system, earlier.tools)


async def test_closing_the_turn_early_leaves_no_task_behind() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    stage = Stage(ScriptedModel([ReplyOf([Call("Shell", {"name": "hang"}), Wait(hold, reached)])]), [Shell()])
    turn = asyncio.create_task(stage.play())
    await reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not others


def decide(stage: Stage, decision: Any, **details: Any) -> Callable[[Event], None]:
    """An observer that answers every approval."""

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            stage.pending.settle(AnswerApproval(request_id=event.request_id, decision=decision, **details))

    return answer


async def test_an_approval_is_recorded_before_the_call_runs() -> None:
    stage = Stage(
        ScriptedModel([Call("Shell", {"name": "x"}), Say("ok")]), [Shell()], host=TestHost(verdict=asks("ShellAccess"))
    )
    await stage.play(on=decide(stage, "allow"))
    kinds = [type(event) for event in stage.events]
    assert kinds.index(ApprovalRequested) < kinds.index(ApprovalResolved) < kinds.index(ToolStarted)


async def test_a_denial_with_a_reason_reaches_the_model_and_the_turn_goes_on() -> None:
    model = ScriptedModel([Call("Shell", {"name": "x"}), Say("ok")])
    stage = Stage(model, [Shell()], host=TestHost(verdict=asks("ShellAccess")))
    await stage.play(on=decide(stage, "deny", reason="use the script"))
    assert "use the script" in str(stage.results()["call_1"].content)
    assert not stage.of(ToolStarted)
    assert len(model.requests) == 2


async def test_a_denial_that_stops_ends_the_turn() -> None:
    model = ScriptedModel([Call("Shell", {"name": "x"}), Say("never")])
    stage = Stage(model, [Shell()], host=TestHost(verdict=asks("ShellAccess")))
    ended = await stage.play(on=decide(stage, "deny", stop=True))
    assert ended.reason == "stopped_by_denial"
    stage.assert_settled()
    assert len(model.requests) == 1


async def test_always_saves_only_what_was_offered() -> None:
    offer = RuleOffer(rule="Bash(x)", covers="x")
    host = TestHost(verdict=lambda accesses: Verdict(decision="ask", why="new", offers=(offer,)))
    stage = Stage(ScriptedModel([Call("Shell", {"name": "x"}), Say("ok")]), [Shell()], host=host)
    await stage.play(on=decide(stage, "allow_always", rules=("Bash(x)", "Bash(*)")))
    assert host.saved == ["Bash(x)"]


async def test_interrupt_while_an_approval_waits_resolves_it_as_denied() -> None:
    stage = Stage(ScriptedModel([Call("Shell", {"name": "x"})]), [Shell()], host=TestHost(verdict=asks("ShellAccess")))

    def interrupt(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            stage.abort.throw()

    assert (await stage.play(on=interrupt)).reason == "interrupted"
    (resolved,) = stage.of(ApprovalResolved)
    assert (resolved.decision, resolved.by) == ("deny", "interrupt")
    stage.assert_settled()
