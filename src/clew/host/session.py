"""A session: its agents, what they share, and everything that is published about them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from clew.agents.log import AgentLog
from clew.agents.runner import AgentRunner
from clew.engine.gate import PendingAnswers
from clew.host.part import Part
from clew.llm.model import Model
from clew.protocol.events import (
    DurableEvent,
    Envelope,
    Event,
    Notice,
    PlaceChanged,
    PromptAccepted,
    SessionEnded,
    SessionStarted,
    ToolEnded,
    WorktreeChanged,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId
from clew.protocol.state import SessionState, session_state
from clew.transcript.errors import LeaseLost
from clew.transcript.log.stamp import utc_now

HAND_OVER_POLL_S = 1.0
EndReason = Literal["", "closed", "taken_over", "switched"]


class Journal:
    """All transcripts of a session: the first to see an event, so that what is shown is on disk before."""

    def __init__(self, main: AgentLog, *, on_lost: Callable[[str], None]) -> None:
        """`on_lost` is told once, in words, when another process has taken the session over."""
        self._logs: dict[AgentId, AgentLog] = {MAIN_AGENT: main}
        self._ended: set[AgentId] = set()
        self._on_lost = on_lost
        self._lost = False
        self.main = main

    def open(self, agent: AgentId, log: AgentLog) -> None:
        """One more agent, with a transcript of its own; or one that had ended and goes on."""
        self._logs[agent] = log
        self._ended.discard(agent)

    @property
    def state(self) -> SessionState:
        """The states of all agents that have not ended as one."""
        over = {MAIN_AGENT, *self._ended}
        others = {agent: log.state for agent, log in self._logs.items() if agent not in over}
        return session_state(self.main.state, others)

    def log(self, agent: AgentId) -> AgentLog:
        """The transcript of an agent."""
        return self._logs[agent]

    def record(self, agent: AgentId, event: Event) -> None:
        """Before anybody else sees it. After the session was lost nothing is written, and that is told once."""
        if self._lost or agent in self._ended:
            return
        try:
            self._logs[agent].take(event)
        except LeaseLost as lost:
            self._lost = True
            self._on_lost(str(lost))

    def end(self, agent: AgentId) -> None:
        """An agent is done: nothing more is written to its transcript."""
        self._ended.add(agent)
        self._logs[agent].close()

    def let_go(self) -> None:
        """The session is handed over: nothing is written from here on."""
        self._lost = True
        self.close()

    def close(self) -> None:
        """Children first: their parent's end is the last line."""
        for agent, log in reversed(list(self._logs.items())):
            if agent not in self._ended:
                log.close()


class Session:
    """Publishing is the one way out: recorded first, then told to front ends, then to the parts in their order."""

    def __init__(
        self,
        *,
        started: SessionStarted,
        journal: Journal,
        pending: PendingAnswers,
        deliver: Callable[[Envelope], None],
        parts: Sequence[Part] = (),
        asked_for: Callable[[], str] | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`asked_for` tells who wants to take the session over, if anybody."""
        self.started = started
        self.journal = journal
        self.pending = pending
        self.runners: dict[AgentId, AgentRunner] = {}
        self.parts = tuple(parts)
        self.closed = False
        self._closing = False
        self._deliver = deliver
        self._asked_for = asked_for
        self._on_close = on_close
        self._parents: dict[AgentId, CallId | None] = {}
        self._watch: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._retired: list[Model] = []
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
        for part in self.parts:
            part.on(event, agent)
        if agent != MAIN_AGENT:
            return
        if isinstance(event, PromptAccepted | ToolEnded | WorktreeChanged):
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
        for part in self.parts:
            part.begin()

    def add_parts(self, parts: Sequence[Part]) -> None:
        """More parts, that were started; whoever listens already is listening for them too."""
        self.parts = (*self.parts, *parts)
        for part in parts:
            part.begin()

    def use_model(self, model: Model) -> None:
        """The main agent goes on with another model."""
        self.retire(self.main.agent.own_model)
        self.main.agent.model = model

    def use_prompt(self, blocks: tuple[str, ...], **more: str) -> None:
        """The main agent's requests begin with other blocks from now on; a resumed session knows it too. `more`: what
        else the log tells of that beginning."""
        self.main.agent.system = blocks
        self.journal.main.note_prompt(blocks, **more)

    def retire(self, model: Model) -> None:
        """A model that was replaced; a request may still be under way there, so it is closed at the end."""
        self._retired.append(model)

    async def close(self, reason: EndReason = "closed") -> None:
        """Interrupt what runs, write everything, say good-bye. Safe to call twice."""
        if self.closed:
            return
        self._closing = True
        await self._stop_parts()
        for runner in list(self.runners.values()):
            await runner.stop("taken_over" if self.lost else "closed")
        if self._watch is not None and self._watch is not asyncio.current_task():
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await asyncio.gather(*(part.leave(reason) for part in self.parts))
        unsaved = self.journal.main.unsaved()
        self.closed = True
        left = "; ".join(words for part in self.parts if (words := part.farewell()))
        self.publish(SessionEnded(reason=reason, unsaved=unsaved, left=left))
        for part in self.parts:
            await part.end()
        for model in {id(model): model for model in self._models()}.values():
            await model.close()
        if self._on_close is not None:
            await self._on_close()
        self.journal.close()

    def hurry(self) -> None:
        """An interrupt while it closes: nothing is waited for that only says more."""
        if self._closing:
            for part in self.parts:
                part.hurry()

    def lose(self, why: str) -> None:
        """Another process has the session now: stop here, and take nothing more."""
        self.lost = self.lost or why
        for runner in self.runners.values():
            runner.interrupt("taken_over")
        self.notice("error", why, code="taken-over")

    def _models(self) -> Sequence[Model]:
        used = [model for runner in self.runners.values() for model in (runner.agent.own_model, runner.agent.fallback)]
        return [model for model in (*used, *self._retired) if model is not None]

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
        await self._stop_parts()
        for runner in list(self.runners.values()):
            await runner.stop("taken_over")
        for part in self.parts:
            await part.let_go()
        self.journal.let_go()

    async def _stop_parts(self) -> None:
        for part in self.parts:
            await part.stop()

    async def _watch_for_others(self) -> None:
        """An idle session must let go too, so somebody has to look."""
        while not self.lost:
            await asyncio.sleep(HAND_OVER_POLL_S)
            self._check_hand_over()
