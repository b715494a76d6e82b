"""The door: ops in, events out, for any number of front ends in this process."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clew.agents.permits import MODES, Permits
from clew.agents.runner import AgentRunner
from clew.engine.turn import Prompt
from clew.host.connection import Connection, Listener
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, SeveralFit, nothing, too_late
from clew.host.replay import Replay
from clew.host.session import Session
from clew.host.slash_names import SlashNames, as_said
from clew.protocol.base import Rights
from clew.protocol.events import (
    Envelope,
    Event,
    GuestsChanged,
    OpAccepted,
    OpRejected,
    PermissionModeChanged,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    Rewound,
    SessionEnded,
    SessionsFit,
    SessionStarted,
    SnapshotTaken,
)
from clew.protocol.ids import MAIN_AGENT, PromptId
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.session import ListInvocables
from clew.protocol.ops import (
    AnswerApproval,
    AnswerOp,
    AnswerPlan,
    Close,
    ContinueTurn,
    Interrupt,
    InvocableOp,
    Op,
    SendQueued,
    SubmitPrompt,
    SwitchSession,
    WithdrawPrompt,
)

LAST_ANSWERS_S = 5.0
NOT_WAITED_FOR = ("FindFiles",)
"""Lookups whose answer nobody misses when the session ends."""
ENDED = "the session has ended"
FOR_ANY_AGENT = (SubmitPrompt, WithdrawPrompt, Interrupt, AnswerOp)
"""Ops that agents beside the main one take too."""


class OpenSession(Struct, kw_only=True):
    """A session that was put together; exchanged as a whole when another comes behind the door."""

    session: Session
    permits: Permits
    names: SlashNames
    notes: tuple[Event, ...] = ()
    """What the first front end should be told."""
    go_on: Prompt | None = None
    """What lets a turn that was cut off go on."""
    more_parts: Callable[[], tuple[Part, ...]] | None = None
    """Makes and starts the parts that only answer, at the first op or lookup that no other takes."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its capabilities, in their order."""
        return self.session.parts


Reopen = Callable[[SwitchSession], Awaitable[OpenSession]]


class Door:
    """What the connections of one session meet at: their ops come in, what happens goes out to all of them.

    The session behind it can be exchanged by the one who opened it; guests stay with theirs, which ends for them.
    """

    def __init__(self, *, reopen: Reopen | None = None) -> None:
        self._reopen = reopen
        self._handlers: OpHandlers = {}
        self._answerers: Answerers = {}
        self._looking: set[asyncio.Task[Any]] = set()
        """Answers that are under way, and ops that nobody waits for at the door."""
        self._open: OpenSession | None = None
        self._connections: list[Connection] = []
        self._replay = Replay()
        self._ended = False
        self._leaving = False
        self.offered: set[str] = set()
        """Hooks and servers that a person was shown in this process, by their digests."""

    @property
    def opened(self) -> OpenSession:
        """What lies behind it now."""
        assert self._open is not None
        return self._open

    @property
    def session(self) -> Session:
        """The session behind it now."""
        return self.opened.session

    def enter(self, opened: OpenSession) -> None:
        """Put a session behind the door; listeners hear of it."""
        self._open = opened
        self._ask_parts()
        self._replay = Replay(opened.session.journal.main.state)
        for connection in self._connections:
            connection.each_listener(self.introduce)

    def deliver(self, envelope: Envelope) -> None:
        """What a session published goes to everybody who listens."""
        if self._open is not None:
            if envelope.agent == MAIN_AGENT and isinstance(envelope.event, PromptAccepted | Rewound):
                self._open.go_on = None  # what was cut off is not the end of the conversation any more
            self._replay.take(envelope, self.session.journal.log(envelope.agent).state)
        for connection in list(self._connections):
            connection.hear(envelope)
        if isinstance(envelope.event, SessionEnded):
            self._end(guests_only=envelope.event.reason == "switched")

    def connect(self, rights: Rights = Rights.DRIVE, *, name: str = "", guest: bool = False) -> Connection:
        """One more front end at the session."""
        connection = Connection(self, rights, name=name, guest=guest)
        if not self._ended:
            self._connections.append(connection)
            self._tell_guests(guest=guest)
        return connection

    def left(self, connection: Connection) -> None:
        """A front end is gone; the session and the others go on."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._tell_guests(guest=connection.guest)

    def _tell_guests(self, *, guest: bool) -> None:
        if guest and self._open is not None and not self._ended:
            self.session.publish(GuestsChanged(guests=self.guests))

    @property
    def guests(self) -> tuple[str, ...]:
        """Who else is at the session, for people."""
        return tuple(connection.name for connection in self._connections if connection.guest)

    @property
    def ended(self) -> bool:
        """The session is over, and no other took its place."""
        return self._ended

    def envelope(self, event: Event) -> Envelope:
        """An event with its place in the sequence."""
        return self.session.envelope(event)

    async def answer(self, lookup: Lookup[Any]) -> Answer:
        """Look something up for a connection. Raises LookupRefused."""
        self._tell_parts(lookup)
        if type(lookup) not in self._answerers:
            self.add_parts()
        answerer = self._answerers.get(type(lookup))
        if answerer is None:
            raise LookupRefused(f"nothing in this session answers {lookup.__struct_config__.tag}")
        task = self._beside(answerer(lookup), type(lookup).__name__)
        try:
            return await task
        except OpRefused as refused:
            raise LookupRefused(str(refused)) from refused
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if not task.cancelled() or (asking is not None and asking.cancelling()):
                raise
            raise LookupRefused(ENDED) from None  # the session did not wait for it

    def _ask_parts(self) -> None:
        """Which part takes which op and answers which lookup."""
        parts, names = self.opened.parts, self.opened.names
        self._handlers = {kind: handler for part in parts for kind, handler in part.ops().items()}
        found = {kind: answerer for part in parts for kind, answerer in part.lookups().items()}
        self._answerers = {ListInvocables: names.listed, **found}

    def add_parts(self, parts: tuple[Part, ...] | None = None) -> None:
        """Let these join, that were started. None: let the parts that only answer be made; once."""
        if parts is None:
            make, self.opened.more_parts = self.opened.more_parts, None
            parts = make() if make is not None else ()
        self.session.add_parts(parts)
        self._ask_parts()

    def _tell_parts(self, asked: Op | Lookup[Any]) -> None:
        for part in self.opened.parts:
            part.heard(asked)

    def _beside(self, work: Coroutine[Any, Any, Any], name: str) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work, name=name)
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        return task

    async def take(self, op: Op, asker: Connection) -> None:
        """Do what a connection with the rights for it asks."""
        self._tell_parts(op)
        if isinstance(op, InvocableOp) and self.opened.names.must_wait(op):
            self._beside(self._process(op, asker), type(op).__name__)
            return
        await self._process(op, asker)

    async def _process(self, op: Op, asker: Connection) -> None:
        try:
            for part in self.opened.parts:
                if words := part.objection(op):
                    raise OpRefused(words)
            effect = await self._understood(op, asker)
        except OpRefused as refused:
            tag = str(op.__struct_config__.tag)
            asker.tell(OpRejected(op_id=op.op_id, op=tag, reason=str(refused)))
            return
        if op.op_id:
            asker.tell(OpAccepted(op_id=op.op_id))
        done = effect()
        if done is not None:
            await done

    def introduce(self, listener: Listener) -> None:
        """Who joins, early or late, learns where things stand and hears the running step from its beginning."""
        session = self.session
        for event in (self._started(), self._snapshot()):
            listener.put(session.envelope(event))
        for envelope in self._replay.envelopes():
            listener.put(envelope)
        notes, self.opened.notes = self.opened.notes, ()
        for note in notes:
            listener.put(session.envelope(note))
        session.begin()

    def _started(self) -> SessionStarted:
        session, permits = self.session, self.opened.permits
        agent, stamp = session.main.agent, session.journal.main.stamp
        started = replace(
            session.started,
            resumed=session.started.resumed or session.journal.main.conversation.leaf is not None,
            model=agent.own_model.name,
            effort=agent.own_effort or "",
            invocables=self.opened.names.usable(),
            permission_mode=permits.policy.mode,
            may_bypass=permits.started_with == "bypassPermissions",
            cwd=stamp.cwd,
            branch=stamp.git_branch,
        )
        for part in self.opened.parts:
            started = part.introduced(started)
        return started

    def _snapshot(self) -> SnapshotTaken:
        return SnapshotTaken(state=self._replay.state, last_entry_id=self.session.journal.main.conversation.leaf)

    def _end(self, *, guests_only: bool) -> None:
        for connection in list(self._connections):
            if connection.guest or not guests_only:
                connection.end()
        if guests_only:
            self._connections = [connection for connection in self._connections if not connection.guest]
            return
        self._ended = True
        for task in self._looking:
            task.cancel()

    async def _understood(self, op: Op, asker: Connection) -> Effect:
        """Check an op without doing it. Raises OpRefused."""
        session, runner = self.session, self._addressed(op)
        match op:
            case SubmitPrompt():
                if session.lost:
                    raise OpRefused(f"nothing was sent: {session.lost}")
                prompt = as_said(op.content, self.opened.parts, prompt_id=op.prompt_id, origin=op.origin)
                return partial(runner.submit, prompt)
            case ContinueTurn():
                if self.opened.go_on is None or session.main.working:
                    raise OpRefused("the session ended in order, so there is nothing to go on with; give a prompt")
                return partial(session.main.submit, self.opened.go_on)
            case WithdrawPrompt() | SendQueued():
                return self._of_queue(op, runner)
            case Interrupt():
                return partial(self._interrupt, op)
            case AnswerOp() if type(op) not in self._handlers:
                return self._answered(op)
            case Close():
                return self._close
            case SwitchSession():
                return await self._switch(op, asker)
            case _ if isinstance(op, InvocableOp):
                await self.opened.names.settle(op)
                return self.opened.names.understood(op)
            case _:
                if type(op) not in self._handlers:
                    self.add_parts()
                handler = self._handlers.get(type(op))
                if handler is None:
                    raise OpRefused("nothing in this session does that")
                return await handler(op)

    def _held(self, prompt_id: PromptId) -> list[PromptQueued]:
        """The prompts that an earlier process left: this one, or all. Raises OpRefused."""
        queued = [item for item in self.session.journal.main.state.queued if item.held]
        found = [item for item in queued if prompt_id in ("", item.prompt_id)]
        if not found:
            raise OpRefused("it has joined the conversation already" if prompt_id else "no prompt waits to be sent")
        return found

    def _of_queue(self, op: WithdrawPrompt | SendQueued, runner: AgentRunner) -> Effect:
        if isinstance(op, WithdrawPrompt) and runner.withdraw(op.prompt_id):
            return nothing
        held = self._held(op.prompt_id)
        if isinstance(op, WithdrawPrompt):
            return partial(self.session.publish, PromptWithdrawn(prompt_id=op.prompt_id))

        def send() -> None:
            for one in held:
                prompt = as_said(one.content, self.opened.parts, prompt_id=one.prompt_id, origin=one.origin)
                runner.submit(prompt, kept=True)

        return send

    def _addressed(self, op: Op) -> AgentRunner:
        """The agent that an op is for. Raises OpRefused."""
        runner = self.session.runners.get(op.agent)
        if runner is None:
            raise OpRefused(f"there is no agent {op.agent!r} in this session")
        if op.agent != MAIN_AGENT and not isinstance(op, FOR_ANY_AGENT):
            raise OpRefused(f"this is for the main agent only, not for {op.agent!r}")
        return runner

    def _answered(self, op: AnswerOp) -> Effect:
        """With an approval the mode may change in the same moment: it is in force before the call goes on."""
        pending = self.session.pending
        mode = op.mode if isinstance(op, AnswerApproval) else ""
        if not pending.waits_for(op):
            raise OpRefused(too_late(pending, op))
        if isinstance(op, AnswerPlan) and op.mode and op.mode not in MODES:
            raise OpRefused(f"there is no permission mode {op.mode!r}; modes are {', '.join(MODES)}")
        if not mode:
            pending.settle(op)
            return nothing
        if isinstance(op, AnswerApproval) and op.decision == "deny":
            raise OpRefused("a no changes no permission mode")
        try:
            self.opened.permits.set_mode(mode)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        self.session.publish(PermissionModeChanged(mode=mode))
        pending.settle(op)
        pending.reconsider()
        return nothing

    async def _close(self) -> None:
        """Who asked and leaves at once, as a pipe does, still gets the answer, if it takes no longer than a moment."""
        asked = {task for task in self._looking if task.get_name() not in NOT_WAITED_FOR}
        self._leaving = True
        if asked:
            await asyncio.wait(asked, timeout=LAST_ANSWERS_S)
        await self.session.close()

    def _interrupt(self, op: Interrupt) -> None:
        """The turn; parts heard of it already and stopped what runs beside it."""
        runner = self.session.runners.get(op.agent)
        if runner is not None:
            runner.interrupt()
        if op.agent == MAIN_AGENT:
            self.session.hurry()
        for task in self._looking if self._leaving else ():
            task.cancel()

    async def _switch(self, op: SwitchSession, asker: Connection) -> Effect:
        """The other session is opened first: when that fails, this one stays."""
        if asker.guest:
            raise OpRefused("this front end is attached to one session; leave it to go on with another")
        if self._reopen is None:
            raise OpRefused("this front end has one session only")
        try:
            opened = await self._reopen(op)
        except SeveralFit as several:
            return partial(asker.tell, SessionsFit(op_id=op.op_id, sessions=several.rows))
        except Exception as error:  # whatever keeps it from opening is told, and nothing was closed
            raise OpRefused(str(error) or type(error).__name__) from error

        async def change() -> None:
            await self.session.close("switched")
            self.enter(opened)

        return change
