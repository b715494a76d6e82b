"""The session actor: ops in, events out, one turn at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Literal, Protocol

from clew.engine.abort import Abort, settle
from clew.engine.agent import Agent, Content
from clew.engine.approvals import PendingAnswers
from clew.engine.dispatch import describe
from clew.engine.loop import run_turn
from clew.engine.middleware.base import Middleware
from clew.engine.ports import Compactor
from clew.engine.recovery import Recovery
from clew.engine.step import StepRunner
from clew.engine.turn import Turn
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.protocol.events import (
    Event,
    ModelChanged,
    Notice,
    PermissionModeChanged,
    RecapReady,
    SessionEnded,
    SessionStarted,
    TitleChanged,
    TurnEnded,
)
from clew.protocol.ops import (
    AnswerApproval,
    AnswerQuestion,
    Close,
    Interrupt,
    Op,
    RequestRecap,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SubmitPrompt,
)
from clew.protocol.tally import Tally

Subscriber = Callable[[Event], None]
HAND_OVER_POLL_S = 1.0


class Orientation(Protocol):
    """Words for facts, as the session sees them: events that follow from what was recorded."""

    def after(self, event: Event) -> Sequence[Event]:
        """What to publish after this event (labels, titles, a recap draft)."""
        ...

    async def recap(self, *, model: bool) -> Event:
        """A recap now, or a notice why there is none."""
        ...

    async def close(self) -> None:
        """Stop background work."""
        ...


class Session:
    """One conversation. Subscribers see every event first, in order; the recorder is the first of them."""

    def __init__(
        self,
        *,
        started: SessionStarted,
        agent: Agent,
        steps: StepRunner,
        pending: PendingAnswers,
        middlewares: Sequence[Middleware],
        subscribers: Sequence[Subscriber],
        tally: Tally,
        connect: Callable[[str], Model],
        set_mode: Callable[[str], None],
        orientation: Orientation | None = None,
        compactor: Compactor | None = None,
        first_turn: int = 1,
        hand_over: Callable[[], str] | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
        greet: bool = False,
    ) -> None:
        self._started = started
        self._agent = agent
        self._steps = steps
        self._pending = pending
        self._middlewares = middlewares
        self._subscribers = subscribers
        self._tally = tally
        self._connect = connect
        self._set_mode = set_mode
        self._orientation = orientation
        self._compactor = compactor
        self._turns = first_turn - 1
        self._hand_over = hand_over
        """Lets go of the log if another process asked for it, tells so, and returns who; or nothing."""
        self._watch: asyncio.Task[None] | None = None
        self._on_close = on_close
        self._greet = greet
        """Tell the first front end where things stand."""
        self._listeners: list[asyncio.Queue[Event | None]] = []
        self._turn_task: asyncio.Task[None] | None = None
        self._abort: Abort | None = None
        self._recap_task: asyncio.Task[None] | None = None
        self._retired: list[Model] = []
        self._closed = False
        self._lost = False

    async def submit(self, op: Op) -> None:
        """Take an op; what comes of it is told by events."""
        match op:
            case SubmitPrompt():
                self._prompt(op.content)
            case Interrupt():
                if self._abort is not None:
                    self._abort.throw()
            case AnswerApproval() | AnswerQuestion():
                self._pending.settle(op)
            case SetModel():
                await self._use_model(op.model)
            case SetPermissionMode():
                self._change_mode(op.mode)
            case SetTitle():
                self.publish(TitleChanged(title=op.title, source="user"))
            case RequestRecap():
                self._start_recap(op)
            case Close():
                await self.close()

    async def events(self) -> AsyncIterator[Event]:
        """Everything from now on; ends after SessionEnded."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        queue.put_nowait(self._started)
        self._listeners.append(queue)
        if self._hand_over is not None and self._watch is None:
            self._watch = asyncio.create_task(self._watch_for_others(self._hand_over))
        if self._greet:
            self._greet = False
            self._start_recap(RequestRecap(), asked=False)
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._listeners.remove(queue)

    async def close(self, reason: str = "") -> None:
        """Interrupt what runs, write everything, say good-bye. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self._agent.inbox.clear()
        if self._abort is not None:
            self._abort.throw()
        if self._turn_task is not None:
            await asyncio.gather(self._turn_task, return_exceptions=True)
        await settle(*(task for task in (self._recap_task, self._watch) if task is not None))
        if self._orientation is not None:
            await self._orientation.close()
        self.publish(SessionEnded(reason=reason))
        for queue in self._listeners:
            queue.put_nowait(None)
        for model in (self._agent.model, self._agent.fallback, *self._retired):
            if model is not None:
                await model.close()
        if self._on_close is not None:
            await self._on_close()

    def notice(self, level: Literal["info", "warning", "error"], text: str, *, code: str = "") -> None:
        """Tell front ends something that is not part of the conversation."""
        self.publish(Notice(level=level, text=text, code=code))

    @property
    def closed(self) -> bool:
        """Nobody hears events any more."""
        return self._closed

    def lose(self, why: str = "") -> None:
        """Another process has the session now: stop here, and take nothing more. `why` unless it was told already."""
        self._lost = True
        self._agent.inbox.clear()
        if self._abort is not None:
            self._abort.throw()
        if why:
            self.notice("error", why, code="taken-over")

    async def _watch_for_others(self, hand_over: Callable[[], str]) -> None:
        """An idle session must let go too, so somebody has to look."""
        while True:
            await asyncio.sleep(HAND_OVER_POLL_S)
            if hand_over():
                self.lose()
                return

    def _prompt(self, content: Content) -> None:
        if self._lost:
            self.notice("error", "this session goes on in another process; nothing was sent", code="taken-over")
        if self._closed or self._lost:
            return
        self._agent.inbox.append(content)
        if self._turn_task is None or self._turn_task.done():
            self._turn_task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        """Turns until nothing is left to answer."""
        while self._agent.inbox:
            await self._run_turn(self._agent.inbox.popleft())

    async def _run_turn(self, prompt: Content) -> None:
        self._turns += 1
        self._abort = Abort()
        turn = Turn(
            number=self._turns,
            agent=self._agent,
            recovery=Recovery(self._agent, self._compactor),
            abort=self._abort,
            spent_usd=self._tally.cost_usd,
        )
        try:
            async with aclosing(run_turn(turn, prompt, steps=self._steps, middlewares=self._middlewares)) as events:
                async for event in events:
                    self.publish(event)
        except Exception as error:  # task boundary: say what broke, stay usable
            self.publish(
                TurnEnded(
                    turn=turn.number,
                    reason="model_error",
                    steps=turn.steps,
                    duration_ms=turn.duration_ms,
                    usage=turn.usage,
                    cost_usd=turn.cost_usd,
                    error=f"internal error: {describe(error)}",
                )
            )
        finally:
            self._abort = None

    def publish(self, event: Event) -> None:
        """Subscribers first (the recorder before all), then front ends, then what follows from it."""
        for subscriber in self._subscribers:
            subscriber(event)
        for queue in self._listeners:
            queue.put_nowait(event)
        if self._orientation is not None:
            for following in self._orientation.after(event):
                self.publish(following)

    async def _use_model(self, name: str) -> None:
        try:
            model = self._connect(name)
        except LLMError as error:
            self.publish(Notice(level="error", text=str(error), code="model"))
            return
        self._retired.append(self._agent.model)  # a request may still be under way there
        self._agent.use_model(model)
        self.publish(ModelChanged(model=model.name, reason="user"))

    def _change_mode(self, mode: str) -> None:
        try:
            self._set_mode(mode)
        except ValueError as error:
            self.publish(Notice(level="error", text=str(error), code="mode"))
            return
        self.publish(PermissionModeChanged(mode=mode))

    def _start_recap(self, op: RequestRecap, *, asked: bool = True) -> None:
        if self._orientation is None:
            self.publish(Notice(level="info", text="recaps are off in this session", code="recap"))
            return
        if self._recap_task is None or self._recap_task.done():
            self._recap_task = asyncio.create_task(self._recap(self._orientation, model=op.model, asked=asked))

    async def _recap(self, orientation: Orientation, *, model: bool, asked: bool) -> None:
        told = await orientation.recap(model=model)
        if asked or isinstance(told, RecapReady):
            self.publish(told)
