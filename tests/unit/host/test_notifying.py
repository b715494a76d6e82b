"""When notices go out: once each, while nobody looks; and that one never answers what it tells of."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.config.schema import Notifications, Settings
from clew.llm.errors import ConnectionFailed
from clew.llm.scripted import Call, Fail, ReplyOf, Say, ScriptedModel, Wait
from clew.parts.notifications.part import NotificationPart
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    Notice,
    Notified,
    OpRejected,
    QuestionAnswered,
    QuestionAsked,
    SessionStarted,
    TitleChanged,
    TurnEnded,
)
from clew.protocol.ids import CallId, RequestId
from clew.protocol.lookups.rules_and_models import ListModels
from clew.protocol.ops import AnswerApproval, AnswerQuestion, Close, Interrupt, ReportFocus, ReportTyping, SubmitPrompt
from engine.harness import TestHost, asks
from fakes.loop_clock import LoopClock
from unit.host.plugs import setup_of
from unit.host.room import Front, furnished
from unit.host.test_second_agent import CHILD, add_child, say_to_child

WAIT_S = 30.0
NO_MINIMUM = Notifications(min_turn_s=0, unanswered_s=WAIT_S)


@asynccontextmanager
async def notified(
    *script: Any, settings: Notifications = NO_MINIMUM, headless: bool = False, **more: Any
) -> AsyncIterator[Front]:
    """A front end at a session whose notices go out."""
    part = NotificationPart(setup_of(settings=Settings(notifications=settings), headless=headless))
    door = furnished(ScriptedModel(script), parts=[part], **more)
    front = Front(door)
    await front.until(SessionStarted)
    try:
        yield front
    finally:
        await front.submit(Close())
        await front.task


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def told(front: Front) -> list[str]:
    return [notice.kind for notice in front.of(Notified)]


async def a_turn(front: Front) -> None:
    before = len(front.of(TurnEnded))
    await front.submit(SubmitPrompt(content="go"))
    await front.until(TurnEnded, before + 1)
    await settled()


def asking() -> dict[str, Any]:
    return {"host": TestHost(verdict=asks("ShellAccess"))}


async def test_who_looks_away_is_told_at_once_and_who_looks_is_not() -> None:
    async with notified(Say("one"), Say("two"), Say("three")) as front:
        await front.submit(ReportFocus(focused=False))
        await a_turn(front)
        assert told(front) == ["done"]
        await front.submit(ReportFocus(focused=True))
        await a_turn(front)
        assert told(front) == ["done"]
        await front.submit(ReportFocus(focused=False))
        await a_turn(front)
        assert told(front) == ["done", "done"]
        ids = [notice.notice_id for notice in front.of(Notified)]
        assert len(set(ids)) == 2
        assert not front.of(OpRejected)


async def test_where_the_focus_is_never_told_the_last_op_counts() -> None:
    async with notified(Say("quick"), Say("again")) as front:
        clock = LoopClock()
        await a_turn(front)
        assert told(front) == []
        clock.forward(WAIT_S * 2)
        await a_turn(front)  # the prompt itself shows that somebody is there
        assert told(front) == []


async def test_a_long_turn_where_the_focus_is_never_told_is_news() -> None:
    reached, gate = asyncio.Event(), asyncio.Event()
    async with notified(ReplyOf([Wait(gate, reached), Say("late")])) as front:
        clock = LoopClock()
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        clock.forward(WAIT_S + 1)
        gate.set()
        await front.until(TurnEnded)
        await settled()
        assert told(front) == ["done"]


@pytest.mark.parametrize("keys", [True, False])
async def test_a_key_press_counts_as_looking_where_the_focus_is_never_told(keys: bool) -> None:
    reached, gate = asyncio.Event(), asyncio.Event()
    async with notified(ReplyOf([Wait(gate, reached), Say("late")])) as front:
        clock = LoopClock()
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        clock.forward(WAIT_S - 1)
        if keys:
            await front.submit(ReportTyping())
        clock.forward(2)
        gate.set()
        await front.until(TurnEnded)
        await settled()
        assert told(front) == ([] if keys else ["done"])


async def test_the_end_of_a_short_turn_is_no_news_but_a_failure_is() -> None:
    settings = Notifications(min_turn_s=60)
    async with notified(Say("quick"), Fail(ConnectionFailed("no")), settings=settings) as front:
        await front.submit(ReportFocus(focused=False))
        await a_turn(front)
        assert told(front) == []
        await a_turn(front)
        assert told(front) == ["failed"]


async def test_a_run_without_a_person_tells_every_end() -> None:
    async with notified(Say("quick"), settings=Notifications(min_turn_s=60), headless=True) as front:
        await a_turn(front)
        assert told(front) == ["done"]


async def denied(front: Front) -> None:
    asked: ApprovalRequested = await front.until(ApprovalRequested)
    await front.submit(AnswerApproval(request_id=asked.request_id, decision="deny", by="nobody"))


@pytest.mark.parametrize("headless", [True, False])
async def test_a_run_whose_calls_were_all_refused_has_failed_where_nobody_could_allow_one(headless: bool) -> None:
    script = (Call("Shell", {"name": "x"}), Say("understood"), Say("hello"))
    async with notified(*script, headless=headless, **asking()) as front:
        await front.submit(ReportFocus(focused=False))
        await front.submit(SubmitPrompt(content="go"))
        await denied(front)
        await front.until(TurnEnded)
        await settled()
        ends = [notice for notice in front.of(Notified) if notice.kind != "needs_approval"]
        assert [notice.kind for notice in ends] == ["failed" if headless else "done"]
        assert ("no call of this run was allowed" in ends[0].text) is headless
        await a_turn(front)
        assert told(front)[-1] == "done"


async def test_an_interrupt_is_no_news() -> None:
    reached = asyncio.Event()
    async with notified(ReplyOf([Wait(asyncio.Event(), reached)])) as front:
        await front.submit(ReportFocus(focused=False))
        await front.submit(SubmitPrompt(content="go"))
        await reached.wait()
        await front.submit(Interrupt())
        await front.until(TurnEnded)
        await settled()
        assert told(front) == []


@pytest.mark.parametrize("focused", [True, None])
async def test_a_question_that_nobody_answers_is_told_although_somebody_seems_to_look(focused: bool | None) -> None:
    async with notified(Call("Shell", {"name": "x"}), Say("ok"), **asking()) as front:
        clock = LoopClock()
        if focused is not None:
            await front.submit(ReportFocus(focused=focused))
        await front.submit(SubmitPrompt(content="go"))
        await front.until(ApprovalRequested)
        await settled()
        assert told(front) == []
        clock.forward(WAIT_S + 1)
        notice: Notified = await front.until(Notified)
        assert notice.kind == "needs_approval"
        clock.forward(WAIT_S * 10)
        await settled()
        assert told(front) == ["needs_approval"]


@pytest.mark.parametrize("headless", [True, False])
async def test_what_is_answered_in_time_is_never_told(headless: bool) -> None:
    async with notified(Call("Shell", {"name": "x"}), Say("ok"), headless=headless, **asking()) as front:
        clock = LoopClock()
        await front.submit(SubmitPrompt(content="go"))
        request: ApprovalRequested = await front.until(ApprovalRequested)
        await front.submit(AnswerApproval(request_id=request.request_id, decision="allow"))
        await front.until(TurnEnded)
        clock.forward(WAIT_S * 10)
        await settled()
        assert told(front) == (["done"] if headless else [])


async def test_a_notice_answers_nothing() -> None:
    """Every string in it is tried as an answer; the call waits all the same."""
    async with notified(Call("Shell", {"name": "x"}), Say("ok"), **asking()) as front:
        await front.submit(ReportFocus(focused=False))
        await front.submit(SubmitPrompt(content="go"))
        notice: Notified = await front.until(Notified)
        request: ApprovalRequested = front.of(ApprovalRequested)[0]
        texts = [value for value in msgspec.to_builtins(notice).values() if isinstance(value, str)]
        assert notice.notice_id in texts
        for text in texts:
            await front.submit(AnswerApproval(request_id=RequestId(text), decision="allow"))
            await front.submit(AnswerQuestion(request_id=RequestId(text), answers=()))
        await front.until(OpRejected, 2 * len(texts))
        assert not front.of(ApprovalResolved)
        assert request.request_id not in str(notice)
        await front.submit(AnswerApproval(request_id=request.request_id, decision="deny"))
        await front.until(TurnEnded)


async def test_an_agent_below_is_heard_when_it_asks_and_not_when_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    async with notified(Say("main"), path=path) as front:
        add_child(
            front,
            ScriptedModel([Call("Shell", {"name": "x"}), Say("done")]),
            path,
            host=TestHost(verdict=asks("ShellAccess")),
        )
        await front.submit(ReportFocus(focused=False))
        say_to_child(front, "go")
        notice: Notified = await front.until(Notified)
        assert notice.kind == "needs_approval"
        request: ApprovalRequested = await front.until(ApprovalRequested, agent=CHILD)
        await front.submit(AnswerApproval(agent=CHILD, request_id=request.request_id, decision="allow"))
        await front.until(TurnEnded, agent=CHILD)
        await settled()
        assert told(front) == ["needs_approval"]


async def test_who_joins_late_is_not_told_again() -> None:
    async with notified(Call("Shell", {"name": "x"}), Say("ok"), **asking()) as front:
        await front.submit(ReportFocus(focused=False))
        await front.submit(SubmitPrompt(content="go"))
        await front.until(Notified)
        late = Front(front.door)
        await late.until(ApprovalRequested)
        await late.look_up(ListModels())
        assert told(late) == []
        assert told(front) == ["needs_approval"]
        late.task.cancel()


async def test_the_title_is_told() -> None:
    async with notified(Say("ok")) as front:
        front.door.session.publish(TitleChanged(title="Parcels by weight", source="user"))
        await front.submit(ReportFocus(focused=False))
        await a_turn(front)
        (notice,) = front.of(Notified)
        assert notice.title == "Parcels by weight"
        assert notice.text == "Done: Parcels by weight"


async def test_a_notice_that_cannot_be_made_is_told_once_and_ends_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no words")

    monkeypatch.setattr("clew.parts.notifications.part.notice_of", broken)
    async with notified(Say("one"), Say("two")) as front:
        await front.submit(ReportFocus(focused=False))
        await a_turn(front)
        await a_turn(front)
        assert [end.reason for end in front.of(TurnEnded)] == ["completed", "completed"]
        assert [notice.code for notice in front.of(Notice)] == ["notify"]


def random_events(chance: random.Random) -> list[Any]:
    """Questions, answers and ends in any order, many of them twice."""
    made: list[Any] = []
    for _ in range(chance.randint(1, 60)):
        number = chance.randint(1, 8)
        request, call = RequestId(f"r{number}"), CallId(f"c{number}")
        made.append(
            chance.choice(
                [
                    ApprovalRequested(request_id=request, call_id=call, tool="Bash", subject="x", why=""),
                    QuestionAsked(request_id=request, call_id=call, questions=()),
                    ApprovalResolved(request_id=request, call_id=call, tool="Bash", subject="x", decision="deny"),
                    QuestionAnswered(request_id=request, call_id=call),
                    TurnEnded(turn=number, reason="completed", steps=1, duration_ms=9_000),
                    TurnEnded(turn=number, reason="max_turns", steps=1, duration_ms=9_000),
                    ReportFocus(focused=chance.random() < 0.5),
                    chance.choice([1.0, WAIT_S + 1]),
                ]
            )
        )
    return made


@pytest.mark.parametrize("seed", range(25))
async def test_in_any_order_each_is_told_at_most_once(seed: int) -> None:
    async with notified(Say("never asked")) as front:
        clock = LoopClock()
        session = front.door.session
        for item in random_events(random.Random(seed)):
            if isinstance(item, float):
                clock.forward(item)
                await settled()
            elif isinstance(item, ReportFocus):
                await front.submit(item)
            else:
                session.publish(item)
        clock.forward(WAIT_S * 2)
        await settled()
        questions = [item for item in front.events if isinstance(item, ApprovalRequested | QuestionAsked)]
        asked = {item.request_id for item in questions}
        answered = {item.request_id for item in front.events if isinstance(item, ApprovalResolved | QuestionAnswered)}
        ends = {item.turn for item in front.events if isinstance(item, TurnEnded)}
        about_questions = [kind for kind in told(front) if kind in ("asks", "needs_approval")]
        assert len(asked - answered) <= len(about_questions) <= len(asked)
        assert len(told(front)) - len(about_questions) <= len(ends)
        ids = [notice.notice_id for notice in front.of(Notified)]
        assert len(set(ids)) == len(ids)
