"""The door: ops in, events out, for any number of front ends in this process."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew.agents.runner import AgentRunner
from clew.host.connection import Connection
from clew.host.slash_names import as_said
from clew.host.listener import Listener
from clew.host.lookup_desk import Desk, ListThem, PreviewOne, SessionLists
from clew.host.op_effects import OpEffects, nothing
from clew.host.refusal import OpRefused, SeveralFit
from clew.host.replay import Replay
from clew.host.room import Effect, Room
from clew.protocol.events import (
    Envelope,
    Event,
    GuestsChanged,
    OpAccepted,
    OpRejected,
    SessionEnded,
    SessionsFit,
    SessionStarted,
    SnapshotTaken,
)
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookup_base import Answer, Lookup, LookupRefused
from clew.protocol.ops import (
    AnswerApproval,
    AnswerOp,
    AnswerPlan,
    AnswerQuestion,
    Close,
    ContinueTurn,
    Interrupt,
    InvocableOp,
    Op,
    Redo,
    Rewind,
    SubmitPrompt,
    SwitchSession,
    Undo,
    UseInvocable,
    WindowOp,
    WithdrawPrompt,
)
from clew.protocol.rights import Rights

if TYPE_CHECKING:
    from clew.host.part import Answerers

LAST_ANSWERS_S = 5.0
NOT_WAITED_FOR = ("FindFiles",)
"""Lookups whose answer nobody misses when the session ends."""
ENDED = "the session has ended"
FOR_ANY_AGENT = (SubmitPrompt, WithdrawPrompt, Interrupt, AnswerOp)
"""Ops that agents beside the main one take too."""
NOT_WHILE_RESTORING = (SubmitPrompt, UseInvocable, ContinueTurn, SwitchSession, Undo, Redo, Rewind)
Reopen = Callable[[SwitchSession], Awaitable[Room]]


class Door:
    """What the connections of one session meet at: their ops come in, what happens goes out to all of them.

    The session behind it can be exchanged by the one who opened it; guests stay with theirs, which ends for them.
    """

    def __init__(
        self, *, reopen: Reopen | None = None, sessions: ListThem | None = None, preview: PreviewOne | None = None
    ) -> None:
        self._reopen = reopen
        self._lists = SessionLists(sessions=sessions, preview=preview)
        self._answerers: Answerers | None = None
        self._looking: set[asyncio.Task[Any]] = set()
        """Answers that are under way, and ops that nobody waits for at the door."""
        self._room: Room | None = None
        self._connections: list[Connection] = []
        self._replay = Replay()
        self._ended = False
        self._leaving = False
        self.offered: set[str] = set()
        """Hooks and servers that a person was shown in this process, by their digests."""

    @property
    def room(self) -> Room:
        """What lies behind it now."""
        assert self._room is not None
        return self._room

    def enter(self, room: Room) -> None:
        """Put a session behind the door; listeners hear of it."""
        self._room = room
        self._effects = OpEffects(room)
        self._answerers = None
        self._replay = Replay(room.session.journal.main.state)
        for connection in self._connections:
            connection.each_listener(self.introduce)

    def deliver(self, envelope: Envelope) -> None:
        """What a session published goes to everybody who listens."""
        if self._room is not None:
            self._replay.take(envelope, self._room.session.journal.log(envelope.agent).state)
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
        if guest and self._room is not None and not self._ended:
            self._tell(GuestsChanged(guests=self.guests))

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
        return self.room.session.envelope(event)

    async def answer(self, lookup: Lookup[Any]) -> Answer:
        """Look something up for a connection. Raises LookupRefused."""
        self.room.attention.heard(lookup)
        answerer = self._known_answerers().get(type(lookup))
        if answerer is None:
            raise LookupRefused(f"nothing here answers {lookup.__struct_config__.tag}")
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

    def _known_answerers(self) -> "Answerers":
        if self._answerers is None:
            from clew.host.lookups import answerers  # loaded by the first lookup

            effects = self._effects
            self._answerers = answerers(Desk(room=self.room, lists=self._lists, restoring=lambda: effects.restoring))
        return self._answerers

    def _beside(self, work: Coroutine[Any, Any, Any], name: str) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work, name=name)
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        return task

    async def take(self, op: Op, asker: Connection) -> None:
        """Do what a connection with the rights for it asks."""
        self.room.attention.heard(op)
        if self._awaits_name(op):
            self._beside(self._process(op, asker), type(op).__name__)
            return
        await self._process(op, asker)

    def _awaits_name(self, op: Op) -> bool:
        invocables = self.room.invocables
        return isinstance(op, InvocableOp) and invocables is not None and invocables.must_wait(op)

    async def _process(self, op: Op, asker: Connection) -> None:
        try:
            self._check_restoring(op)
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

    def _check_restoring(self, op: Op) -> None:
        if self._effects.restoring and isinstance(op, NOT_WHILE_RESTORING):
            raise OpRefused("files are being restored; send it again when that is done")

    def _tell(self, event: Event) -> None:
        self.room.session.publish(event)

    def introduce(self, listener: Listener) -> None:
        """Who joins, early or late, learns where things stand and hears the running step from its beginning."""
        room, session = self.room, self.room.session
        for event in (self._started(), self._snapshot()):
            listener.put(session.envelope(event))
        for envelope in self._replay.envelopes():
            listener.put(envelope)
        for note in room.notes:
            listener.put(session.envelope(note))
        room.notes = ()
        session.begin()
        if room.greet:
            room.greet = False
            session.start_recap("resumed")

    def _started(self) -> SessionStarted:
        room = self.room
        agent, stamp = room.session.main.agent, room.session.journal.main.stamp
        leaf = room.session.journal.main.conversation.leaf
        started = replace(
            room.session.started,
            resumed=room.session.started.resumed or leaf is not None,  # for who joins late there is a past
            model=agent.own_model.name,
            effort=agent.own_effort or "",
            invocables=room.invocables.usable() if room.invocables is not None else (),
            permission_mode=room.permits.policy.mode,
            may_bypass=room.permits.started_with == "bypassPermissions",
            cwd=stamp.cwd,
            branch=stamp.git_branch,
        )
        for part in room.brought:
            started = part.introduced(started)
        return started

    def _snapshot(self) -> SnapshotTaken:
        return SnapshotTaken(state=self._replay.state, last_entry_id=self.room.session.journal.main.conversation.leaf)

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
        session, runner = self.room.session, self._addressed(op)
        match op:
            case SubmitPrompt():
                if session.lost:
                    raise OpRefused(f"nothing was sent: {session.lost}")
                prompt = as_said(op.content, self.room.brought, prompt_id=op.prompt_id, origin=op.origin)
                return partial(runner.submit, prompt)
            case ContinueTurn():
                if self.room.go_on is None or session.main.working:
                    raise OpRefused("the session ended in order, so there is nothing to go on with; give a prompt")
                return partial(session.main.submit, self.room.go_on)
            case WithdrawPrompt():
                if not runner.withdraw(op.prompt_id):
                    raise OpRefused("it has joined the conversation already")
                return nothing
            case Interrupt():
                return partial(self._interrupt, op)
            case AnswerApproval() | AnswerQuestion() | AnswerPlan():
                return self._effects.answered(op)
            case Close():
                return self._close
            case SwitchSession():
                return await self._switch(op, asker)
            case _ if isinstance(op, WindowOp | Undo | Redo | Rewind):
                return await self._effects.about_the_past(op)
            case _:
                return await self._effects.about_the_place(op, asker)

    def _addressed(self, op: Op) -> AgentRunner:
        """The agent that an op is for. Raises OpRefused."""
        runner = self.room.session.runners.get(op.agent)
        if runner is None:
            raise OpRefused(f"there is no agent {op.agent!r} in this session")
        if op.agent != MAIN_AGENT and not isinstance(op, FOR_ANY_AGENT):
            raise OpRefused(f"this is for the main agent only, not for {op.agent!r}")
        return runner

    async def _close(self) -> None:
        """Who asked and leaves at once, as a pipe does, still gets the answer, if it takes no longer than a moment."""
        asked = {task for task in self._looking if task.get_name() not in NOT_WAITED_FOR}
        self._leaving = True
        if asked:
            await asyncio.wait(asked, timeout=LAST_ANSWERS_S)
        await self.room.session.close()

    def _interrupt(self, op: Interrupt) -> None:
        """The turn, and what a person runs beside it."""
        runner = self.room.session.runners.get(op.agent)
        if runner is not None:
            runner.interrupt()
        if op.agent == MAIN_AGENT and self.room.typed is not None:
            self.room.typed.interrupt()
        if op.agent == MAIN_AGENT:
            self.room.session.hurry()
        for task in self._looking if self._leaving else ():
            task.cancel()

    async def _switch(self, op: SwitchSession, asker: Connection) -> Effect:
        """The other session is opened first: when that fails, this one stays."""
        if asker.guest:
            raise OpRefused("this front end is attached to one session; leave it to go on with another")
        if self._reopen is None:
            raise OpRefused("this front end has one session only")
        try:
            room = await self._reopen(op)
        except SeveralFit as several:
            return partial(asker.tell, SessionsFit(op_id=op.op_id, sessions=several.rows))
        except Exception as error:  # whatever keeps it from opening is told, and nothing was closed
            raise OpRefused(str(error) or type(error).__name__) from error

        async def change() -> None:
            await self.room.session.close("switched")
            self.enter(room)

        return change
