"""Middleware under the abort, budgets that bite, the brake, hooks around calls, and the books."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clew.engine.middleware.base import Middleware
from clew.engine.middleware.repeat_brake import RepeatBrake
from clew.engine.ports import CallChange, Limits
from clew.engine.turn import Turn as EngineTurn
from clew.llm.errors import InvalidRequest, StreamBroken
from clew.llm.reply import Retrying, UsageSeen
from clew.llm.scripted import BreakAfter, Call, Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.permissions.access import Verdict
from clew.protocol.events import (
    ApprovalRequested,
    AttemptEnded,
    Event,
    Notice,
    QuestionAnswered,
    ToolEnded,
    ToolStarted,
)
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import AnswerApproval
from clew.protocol.usage import Usage
from clew.tools.base import Tool, ToolResult
from engine.harness import Params, Reader, Shell, Stage, TestHost, Writer, asks


class Witness(Middleware):
    """Says when it was asked; may hang, and may send the model on."""

    def __init__(self, *, hang: asyncio.Event | None = None, send_on: int = 0) -> None:
        self.moments: list[str] = []
        self.hang = hang
        self.send_on = send_on

    async def before_step(self, turn: EngineTurn) -> AsyncGenerator[Event]:
        self.moments.append("before")
        yield Notice(level="info", text="looking")
        if self.hang is not None:
            self.hang.set()
            await asyncio.Event().wait()

    async def after_step(self, turn: EngineTurn) -> AsyncGenerator[Event]:
        self.moments.append("after")
        yield Notice(level="info", text="looked")

    async def before_end(self, turn: EngineTurn) -> AsyncGenerator[Event]:
        self.moments.append("end")
        if self.send_on:
            self.send_on -= 1
            turn.unanswered = True
            yield turn.accept("[Are you sure?]")


async def test_moments_come_in_order_and_the_model_can_be_sent_on() -> None:
    witness = Witness(send_on=1)
    model = ScriptedModel([Call("Reader", {"name": "a"}), Say("Done."), Say("Yes, sure.")])
    stage = Stage(model, [Reader()], middlewares=[witness])
    assert (await stage.play()).reason == "completed"
    assert witness.moments == ["before", "after", "before", "after", "end", "before", "after", "end"]
    assert "[Are you sure?]" in str(model.requests[-1].messages)


async def test_a_middleware_that_hangs_is_stopped_with_the_turn() -> None:
    hanging = asyncio.Event()
    stage = Stage(ScriptedModel([Say("never")]), middlewares=[Witness(hang=hanging)])
    turn = asyncio.create_task(stage.play("remember me"))
    await hanging.wait()
    stage.abort.throw()
    assert (await turn).reason == "interrupted"
    assert stage.of(Notice)
    assert "remember me" in str(stage.messages)
    assert not stage.model.requests


async def test_tokens_of_the_session_are_bounded_also_over_turns() -> None:
    model = ScriptedModel([ReplyOf([Say("one")], usage=Usage(input_tokens=90, output_tokens=20)), Say("never")])
    stage = Stage(model, limits=Limits(max_tokens=100))
    assert (await stage.play()).reason == "completed"
    ended = await stage.play("again")
    assert ended.reason == "max_tokens"
    assert "limits.maxTokens" in ended.error
    assert len(model.requests) == 1


async def test_the_time_limit_stops_what_runs_and_leaves_every_call_answered() -> None:
    stage = Stage(ScriptedModel([Call("Shell", {"name": "hang"})]), [Shell()], limits=Limits(max_minutes=0.0005))
    ended = await stage.play()
    assert ended.reason == "max_minutes"
    stage.assert_settled()


async def test_the_same_call_again_and_again_is_reminded_then_stopped() -> None:
    model = ScriptedModel([Call("Reader", {"name": "a"})] * 20)
    stage = Stage(model, [Reader()], middlewares=[RepeatBrake()])
    ended = await stage.play()
    assert (ended.reason, len(model.requests)) == ("repeating", 6)
    assert "Reader" in ended.error
    hidden = [prompt.content for prompt in stage.prompts() if prompt.hidden]
    assert len(hidden) == 1
    assert "3 times" in str(hidden[0])


async def test_the_brake_spares_effects_other_results_and_tools_that_wait() -> None:
    class Growing(Reader):
        """Another result every time."""

        async def work(self, params: Params) -> ToolResult:
            self.log.append("x")
            return ToolResult(text=str(len(self.log)))

    class Waiting(Reader):
        """Meant to be asked again."""

        waits = True

    for tool, name in ((Growing(), "Reader"), (Waiting(), "Reader"), (Writer(), "Writer")):
        calls = [Call(name, {"name": "a"})] * 8
        stage = Stage(ScriptedModel([*calls, Say("ok")]), [tool], middlewares=[RepeatBrake()])
        assert (await stage.play()).reason == "completed"
    mixed = [item for _ in range(5) for item in (Call("Reader", {"name": "a"}), Call("Writer", {"name": "w"}))]
    stage = Stage(ScriptedModel([*mixed, Say("ok")]), [Reader(), Writer()], middlewares=[RepeatBrake()])
    assert (await stage.play()).reason == "completed"


class Rewriting:
    """A hook that changes what is asked and what comes back, or refuses."""

    def __init__(self, *, refuse: str = "") -> None:
        self.refuse = refuse
        self.around_calls: list[str] = []

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        return CallChange(refused=self.refuse) if self.refuse else CallChange(arguments={"name": "changed"})

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        self.around_calls.append(str(call.arguments))
        yield

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        return ToolResult(text=f"{result.text} (seen)")

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        return result


async def test_a_hook_changes_the_input_before_it_is_judged() -> None:
    judged: list[Any] = []

    def verdict(accesses: Any) -> Any:
        judged.extend(accesses)
        return Verdict(decision="allow", why="test")

    host = TestHost(verdict=verdict, hooks=(Rewriting(),))
    stage = Stage(ScriptedModel([Call("Shell", {"name": "original"}), Say("ok")]), [Shell()], host=host)
    await stage.play()
    assert [access.command for access in judged] == ["changed"]
    (started,) = stage.of(ToolStarted)
    assert started.call.arguments == {"name": "changed"}
    assert stage.results()["call_1"].content == "ok (seen)"


async def test_a_hook_that_refuses_keeps_the_call_from_running() -> None:
    shell = Shell()
    host = TestHost(hooks=(Rewriting(refuse="not on Fridays"),))
    stage = Stage(ScriptedModel([Call("Shell", {"name": "x"}), Say("ok")]), [shell], host=host)
    await stage.play()
    (ended,) = stage.of(ToolEnded)
    assert ended.refused
    assert "not on Fridays" in str(ended.result.content)
    assert not shell.log


async def test_every_request_is_booked_with_the_model_it_used() -> None:
    broken = BreakAfter([UsageSeen(usage=Usage(input_tokens=50)), Say("half")], StreamBroken("cut"))
    retried = ReplyOf([Retrying(attempt=1, max_attempts=3, delay_s=0, reason="500"), Say("Done.")])
    model = ScriptedModel([broken, retried, Fail(InvalidRequest("no"))], usd_per_token=0.001)
    stage = Stage(model)
    await stage.play()
    await stage.play("again")
    booked: list[AttemptEnded] = stage.of(AttemptEnded)
    assert [(item.outcome, item.retries) for item in booked] == [("withdrawn", 0), ("completed", 1), ("failed", 0)]
    assert booked[0].usage == Usage(input_tokens=50)
    (use,) = stage.log.state.tally.models
    assert use.requests == 4
    assert use.cost_usd == pytest.approx(0.05 + 0.11)
    assert stage.log.state.tally.unpriced == 0


async def test_an_interrupted_request_without_usage_is_estimated() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    stage = Stage(
        ScriptedModel([ReplyOf([Say("some words that were seen"), Wait(hold, reached)])], usd_per_token=0.001)
    )
    turn = asyncio.create_task(stage.play())
    await reached.wait()
    stage.abort.throw()
    await turn
    (booked,) = stage.of(AttemptEnded)
    assert (booked.outcome, booked.estimated) == ("interrupted", True)
    assert booked.usage is not None
    assert booked.usage.input_tokens > 0
    assert booked.usage.output_tokens > 0


async def test_time_that_a_person_took_is_not_the_turns() -> None:
    stage = Stage(
        ScriptedModel([Call("Shell", {"name": "x"}), Say("ok")]), [Shell()], host=TestHost(verdict=asks("ShellAccess"))
    )

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            op = AnswerApproval(request_id=event.request_id, decision="allow")
            asyncio.get_running_loop().call_later(0.02, stage.pending.settle, op)

    ended = await stage.play(on=answer)
    assert ended.waited_ms > 0
    assert not stage.of(QuestionAnswered)
