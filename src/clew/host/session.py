"""A session: its agents, what they share, and everything that is published about them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from clew.agents.log import AgentLog
from clew.agents.runner import AgentRunner
from clew.engine.gate import PendingAnswers
from clew.host.journal import Journal
from clew.parts.orientation.orientation_task import Orienting
from clew.parts.window.snapshots import Snapshots
from clew.llm.model import Model
from clew.protocol.entries import ChainEntry, SystemEntry
from clew.protocol.events import (
    DurableEvent,
    Envelope,
    Event,
    Notice,
    PlaceChanged,
    PromptAccepted,
    RecapReady,
    SessionEnded,
    SessionStarted,
    ToolEnded,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, new_entry_id
from clew.protocol.session_words import Occasion
from clew.transcript.stamp import utc_now

HAND_OVER_POLL_S = 1.0
EndReason = Literal["", "closed", "taken_over", "switched"]


class Session:
    """Publishing is the one way out: recorded first, then heard by front ends, then by orientation."""

    def __init__(
        self,
        *,
        started: SessionStarted,
        journal: Journal,
        pending: PendingAnswers,
        deliver: Callable[[Envelope], None],
        asked_for: Callable[[], str] | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`asked_for` tells who wants to take the session over, if anybody."""
        self.started = started
        self.journal = journal
        self.pending = pending
        self.runners: dict[AgentId, AgentRunner] = {}
        self.orienting: Orienting | None = None
        self.ahead: Snapshots | None = None
        """Writes sections ahead of need."""
        self.closed = False
        self._closing = False
        self._deliver = deliver
        self._asked_for = asked_for
        self._on_close = on_close
        self.beside: list[Callable[[], Awaitable[None]]] = []
        """What runs beside the agents and must be stopped, and told, before they are."""
        self.on_begin: list[Callable[[], None]] = []
        """Called when somebody listens; more than once."""
        self.on_leave: list[Callable[[EndReason], Awaitable[None]]] = []
        """What is done when the agents have stopped and the session is about to end. All at once: each has its own
        limit, and whoever leaves waits for the longest of them, not for their sum."""
        self.at_end: list[Callable[[], Awaitable[None]]] = []
        """What is done when the end was told and the session is still ours."""
        self._parents: dict[AgentId, CallId | None] = {}
        self._watch: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._recap: asyncio.Task[None] | None = None
        self._retired: list[Model] = []
        self._subscribers: list[Callable[[Event], None]] = []
        self._of_every_agent: list[Callable[[Envelope], None]] = []
        self._place = (journal.main.stamp.cwd, journal.main.stamp.git_branch)
        self._seq = 0
        self.lost = ""
        """Who has the session now, when it is not ours any more."""

    @property
    def main(self) -> AgentRunner:
        """The agent that front ends talk to."""
        return self.runners[MAIN_AGENT]

    def add_agent(self, runner: AgentRunner, log: AgentLog | None = None, *, call: CallId | None = None) -> None:
        """One more agent: its own inbox, switch, transcript and books. `call`: what started it."""
        self.runners[runner.agent.id] = runner
        self._parents[runner.agent.id] = call
        if log is not None:
            self.journal.open(runner.agent.id, log)

    def remove_agent(self, agent: AgentId) -> None:
        """It has ended: it takes no more ops, and its log is closed."""
        runner = self.runners.pop(agent)
        if runner.agent.own_model is not self.main.agent.own_model:
            self.retire(runner.agent.own_model)
        self.journal.end(agent)

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Be told of the main agent's events, after they were recorded and delivered."""
        self._subscribers.append(subscriber)

    def subscribe_to_all(self, subscriber: Callable[[Envelope], None]) -> None:
        """Be told of every agent's events, each with its agent."""
        self._of_every_agent.append(subscriber)

    def publisher(self, agent: AgentId) -> Callable[[Event], None]:
        """What an agent's runner publishes with."""
        return lambda event: self.publish(event, agent=agent)

    def publish(self, event: Event, *, agent: AgentId = MAIN_AGENT) -> None:
        """Record, then tell. Returns when the event is on disk, if it is durable."""
        if self.closed and not isinstance(event, SessionEnded):
            return
        self.journal.record(agent, event)
        envelope = self.envelope(event, agent=agent)
        self._deliver(envelope)
        for subscriber in self._of_every_agent:
            subscriber(envelope)
        if agent != MAIN_AGENT:
            return
        if self.orienting is not None:
            self.orienting.hear(event)
        if self.ahead is not None:
            self.ahead.hear(event)
        for subscriber in self._subscribers:
            subscriber(event)
        if isinstance(event, PromptAccepted | ToolEnded):
            self._follow_place()
        if isinstance(event, DurableEvent):
            self._check_hand_over()

    def envelope(self, event: Event, *, agent: AgentId = MAIN_AGENT) -> Envelope:
        """An event with its place in the sequence."""
        self._seq += 1
        return Envelope(
            seq=self._seq,
            at=utc_now(),
            session_id=self.started.session_id,
            event=event,
            agent=agent,
            parent_call=self._parents.get(agent),
        )

    def notice(self, level: Literal["info", "warning", "error"], text: str, *, code: str = "") -> None:
        """Tell front ends something that is not part of the conversation."""
        self.publish(Notice(level=level, text=text, code=code))

    def begin(self) -> None:
        """Somebody listens: from now on the session also looks whether another process asks for it."""
        if self._asked_for is not None and self._watch is None:
            self._watch = asyncio.create_task(self._watch_for_others())
        for start in self.on_begin:
            start()

    def retire(self, model: Model) -> None:
        """A model that was replaced; a request may still be under way there, so it is closed at the end."""
        self._retired.append(model)

    def start_recap(self, occasion: Occasion, *, model: bool = False) -> bool:
        """Tell where things stand; False when this session has no words for it."""
        asked = occasion == "asked"
        if self.orienting is None:
            return False
        if asked and self._recap is not None:
            self._recap.cancel()  # whoever asks sees the facts at once; what a model is writing goes on and serves both
        if asked or self._recap is None or self._recap.done():
            self._recap = asyncio.create_task(self._tell(self.orienting, occasion, model=model))
        return True

    async def close(self, reason: EndReason = "closed") -> None:
        """Interrupt what runs, write everything, say good-bye. Safe to call twice."""
        if self.closed:
            return
        self._closing = True
        await self._stop_beside()
        for runner in list(self.runners.values()):
            await runner.stop("taken_over" if self.lost else "closed")
        tasks = [task for task in (self._recap, self._watch) if task is not None and task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.ahead is not None:
            await self.ahead.close()
        farewells = [leave(reason) for leave in self.on_leave]
        if self.orienting is not None:
            farewells.append(self.orienting.close(leaving=not self.lost))
        await asyncio.gather(*farewells)
        unsaved = self.journal.main.unsaved()
        self.closed = True
        self.publish(SessionEnded(reason=reason, unsaved=unsaved))
        for end in self.at_end:
            await end()
        for model in {id(model): model for model in self._models()}.values():
            await model.close()
        if self._on_close is not None:
            await self._on_close()
        self.journal.close()

    def hurry(self) -> None:
        """An interrupt while it closes: nothing is waited for that only says more."""
        if self._closing and self.orienting is not None:
            self.orienting.hurry()

    def lose(self, why: str) -> None:
        """Another process has the session now: stop here, and take nothing more."""
        self.lost = self.lost or why
        for runner in self.runners.values():
            runner.interrupt("taken_over")
        self.notice("error", why, code="taken-over")

    def _models(self) -> Sequence[Model]:
        used = [model for runner in self.runners.values() for model in (runner.agent.own_model, runner.agent.fallback)]
        return [model for model in (*used, *self._retired) if model is not None]

    async def _tell(self, orienting: Orienting, occasion: Occasion, *, model: bool) -> None:
        async for told in orienting.recap(model=model):
            if isinstance(told, RecapReady):
                self.publish(self._placed(replace(told, occasion=occasion)))
            elif occasion == "asked" or not isinstance(told, Notice) or told.code != "recap":
                self.publish(told)

    def _placed(self, recap: RecapReady) -> RecapReady:
        """Written once: when the log already ends with these words they are only shown."""
        conversation = self.journal.main.conversation
        for last in (entry for entry in reversed(conversation.chain()) if isinstance(entry, ChainEntry)):
            if not isinstance(last, SystemEntry) or last.subtype != "away_summary":
                break
            if last.content == recap.text:
                return recap
        return replace(recap, entry_id=new_entry_id(), parent_id=conversation.leaf)

    def _follow_place(self) -> None:
        stamp = self.journal.main.stamp
        place = (stamp.cwd, stamp.git_branch)
        if place != self._place:
            self._place = place
            self.publish(PlaceChanged(cwd=stamp.cwd, branch=stamp.git_branch))

    def _check_hand_over(self) -> None:
        if self._asked_for is not None and not self.lost and (who := self._asked_for()):
            self.lost = f"this session was taken over by {who}; fork it to go on here"
            self.notice("warning", self.lost, code="taken-over")
            self._leaving = asyncio.create_task(self._hand_over())

    async def _hand_over(self) -> None:
        """Abort, settle, record, then let go: at no moment do two processes work on one session."""
        await self._stop_beside()
        for runner in list(self.runners.values()):
            await runner.stop("taken_over")
        if self.ahead is not None:
            await self.ahead.close()
            self.ahead = None
        if self.orienting is not None:
            await self.orienting.close()
            self.orienting = None
        self.journal.let_go()

    async def _stop_beside(self) -> None:
        for stop in self.beside:
            await stop()

    async def _watch_for_others(self) -> None:
        """An idle session must let go too, so somebody has to look."""
        while not self.lost:
            await asyncio.sleep(HAND_OVER_POLL_S)
            self._check_hand_over()
