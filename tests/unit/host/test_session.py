"""The session actor: ops in, events out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clew.engine.agent import Agent
from clew.engine.approvals import PendingAnswers
from clew.engine.middleware.steering import Steering
from clew.engine.step import StepRunner
from clew.host.session import Session
from clew.llm.errors import UnknownModel
from clew.llm.model import Model
from clew.llm.scripted import Call, Fail, Say, ScriptedModel, Turn, Wait
from clew.protocol.events import (
    Event,
    ModelChanged,
    Notice,
    PermissionModeChanged,
    PromptAccepted,
    SessionEnded,
    SessionStarted,
    TitleChanged,
    ToolStarted,
    TurnEnded,
)
from clew.protocol.ids import RequestId, SessionId
from clew.protocol.ops import (
    AnswerApproval,
    Close,
    Interrupt,
    RequestRecap,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SubmitPrompt,
)
from clew.protocol.tally import Tally
from engine.harness import Reader, Shell, TestHost

STARTED = SessionStarted(
    session_id=SessionId("s"), cwd="/", model="scripted/model", permission_mode="default", tools=(), version="0"
)


class Front:
    """A front end that remembers what it saw and can wait for a kind of event."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.events: list[Event] = []
        self._arrived = asyncio.Condition()
        self.task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for event in self.session.events():
            async with self._arrived:
                self.events.append(event)
                self._arrived.notify_all()

    async def until(self, kind: type[Any], count: int = 1) -> Any:
        """The count-th event of a kind, once it has come."""
        async with asyncio.timeout(10), self._arrived:
            await self._arrived.wait_for(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def session_with(
    model: ScriptedModel, connect: Callable[[str], Model] | None = None, subscribers: tuple[Any, ...] = ()
) -> AsyncIterator[Front]:
    tools = [Reader(), Shell()]
    pending = PendingAnswers()
    tally = Tally()

    def refuse_mode(mode: str) -> None:
        if mode not in ("default", "plan"):
            raise ValueError(f"there is no permission mode {mode!r}")

    session = Session(
        started=STARTED,
        agent=Agent(model=model, system=("test",)),
        steps=StepRunner(tools={tool.name: tool for tool in tools}, host=TestHost(), pending=pending),
        pending=pending,
        middlewares=[Steering()],
        subscribers=[*subscribers, tally],
        tally=tally,
        connect=connect or (lambda name: ScriptedModel([Say("new")], name=name)),
        set_mode=refuse_mode,
    )
    front = Front(session)
    await front.until(SessionStarted)
    try:
        yield front
    finally:
        await session.close()
        await front.task


async def test_the_first_event_is_the_session_and_the_last_its_end() -> None:
    async with session_with(ScriptedModel([Say("hi")])) as front:
        await front.session.submit(SubmitPrompt(content="hello"))
        await front.until(TurnEnded)
        await front.session.submit(Close())
    assert front.events[0] is STARTED
    assert isinstance(front.events[-1], SessionEnded)


async def test_input_while_busy_joins_and_input_after_the_last_step_starts_a_turn_of_its_own() -> None:
    hold, reached = asyncio.Event(), asyncio.Event()
    model = ScriptedModel([Turn([Wait(hold, reached), Say("one")]), Say("two")])
    async with session_with(model) as front:
        await front.session.submit(SubmitPrompt(content="first"))
        await reached.wait()
        await front.session.submit(SubmitPrompt(content="second"))
        hold.set()
        await front.until(TurnEnded, 2)
    assert [event.content for event in front.of(PromptAccepted)] == ["first", "second"]
    assert [event.turn for event in front.of(TurnEnded)] == [1, 2]


async def test_interrupt_ends_the_turn_and_the_session_stays_usable() -> None:
    model = ScriptedModel([Call("Shell", {"name": "hang"}), Say("fine")])
    async with session_with(model) as front:
        await front.session.submit(Interrupt())
        await front.session.submit(SubmitPrompt(content="go"))
        await front.until(ToolStarted)
        await front.session.submit(Interrupt())
        assert (await front.until(TurnEnded)).reason == "interrupted"
        await front.session.submit(SubmitPrompt(content="again"))
        assert (await front.until(TurnEnded, 2)).reason == "completed"


async def test_a_model_that_cannot_be_had_is_a_notice_and_the_old_one_stays() -> None:
    def connect(name: str) -> Model:
        if name == "nope/x":
            raise UnknownModel("there is no provider 'nope'")
        return ScriptedModel([Say("from the new one")], name=name)

    async with session_with(ScriptedModel([Say("old")]), connect) as front:
        await front.session.submit(SetModel(model="nope/x"))
        assert "nope" in (await front.until(Notice)).text
        await front.session.submit(SetModel(model="other/y"))
        assert (await front.until(ModelChanged)).model == "other/y"


async def test_modes_titles_and_stray_answers() -> None:
    async with session_with(ScriptedModel()) as front:
        await front.session.submit(SetPermissionMode(mode="wild"))
        assert "wild" in (await front.until(Notice)).text
        await front.session.submit(SetPermissionMode(mode="plan"))
        assert (await front.until(PermissionModeChanged)).mode == "plan"
        await front.session.submit(SetTitle(title="My work"))
        assert (await front.until(TitleChanged)).source == "user"
        await front.session.submit(AnswerApproval(request_id=RequestId("unknown"), decision="allow"))
        await front.session.submit(RequestRecap())
        assert (await front.until(Notice, 2)).code == "recap"


async def test_a_subscriber_that_fails_ends_the_turn_with_its_words_and_nothing_hangs() -> None:
    def broken(event: Event) -> None:
        if isinstance(event, PromptAccepted):
            raise OSError("disk on fire")

    async with session_with(ScriptedModel([Say("x")]), subscribers=(broken,)) as front:
        await front.session.submit(SubmitPrompt(content="go"))
        ended = await front.until(TurnEnded)
    assert "disk on fire" in ended.error


async def test_a_subscriber_that_fails_while_a_tool_runs_leaves_nothing_running() -> None:
    def broken(event: Event) -> None:
        if isinstance(event, ToolStarted):
            raise OSError("disk on fire")

    before = asyncio.all_tasks()
    async with session_with(ScriptedModel([Call("Shell", {"name": "hang"})]), subscribers=(broken,)) as front:
        await front.session.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
        left = asyncio.all_tasks() - before
        assert len(left) <= 2  # the front end that listens, and the session's own worker


async def test_a_model_that_was_replaced_is_closed_with_the_session() -> None:
    old = ScriptedModel()
    async with session_with(old) as front:
        await front.session.submit(SetModel(model="other/y"))
        await front.until(ModelChanged)
    assert old.closed


async def test_a_lost_session_stops_and_takes_nothing_more() -> None:
    model = ScriptedModel([Call("Shell", {"name": "hang"}), Say("never")])
    async with session_with(model) as front:
        await front.session.submit(SubmitPrompt(content="go"))
        await front.until(ToolStarted)
        front.session.lose("taken over by pid 7")
        await front.until(TurnEnded)
        await front.session.submit(SubmitPrompt(content="more"))
        await front.until(Notice, 2)
    assert len(model.requests) == 1


@pytest.mark.parametrize("reply", [Say("fine"), Fail(UnknownModel("gone"))])
async def test_the_model_is_closed_with_the_session(reply: Any) -> None:
    model = ScriptedModel([reply])
    async with session_with(model) as front:
        await front.session.submit(SubmitPrompt(content="go"))
        await front.until(TurnEnded)
    assert model.closed
