"""The door: ops in, events out, for any number of front ends in this process."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from clew.agents.permits import MODES
from clew.host.hook_ops import HookOp, hook_effect
from clew.host.invocables import as_said
from clew.host.listener import Listener
from clew.host.lookups import SLOW, ListThem, Lookups, PreviewOne
from clew.host.model_choice import cannot_stop_thinking
from clew.host.refusal import OpRefused, SeveralFit
from clew.host.replay import Replay
from clew.host.room import Effect, Room
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.protocol.events import (
    EffortChanged,
    Envelope,
    Event,
    ModelChanged,
    OpAccepted,
    OpRejected,
    PermissionModeChanged,
    SessionEnded,
    SessionsListed,
    SessionStarted,
    SnapshotTaken,
    TitleChanged,
)
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import (
    AnswerApproval,
    AnswerOp,
    AnswerPlan,
    AnswerQuestion,
    Close,
    ContinueTurn,
    FindFiles,
    Interrupt,
    InvocableOp,
    Lookup,
    Op,
    Redo,
    ReportFocus,
    RequestRecap,
    Rewind,
    RunShell,
    SetEffort,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SubmitPrompt,
    SwitchSession,
    Undo,
    UseInvocable,
    WindowOp,
    WithdrawPrompt,
)

LAST_ANSWERS_S = 5.0
EFFORTS = ("", "low", "medium", "high", "xhigh", "max")
FOR_ANY_AGENT = (SubmitPrompt, WithdrawPrompt, Interrupt, AnswerOp)
"""Ops that agents beside the main one take too."""
NOT_WHILE_RESTORING = (SubmitPrompt, UseInvocable, ContinueTurn, SwitchSession, Undo, Redo, Rewind)
Reopen = Callable[[SwitchSession], Awaitable[Room]]


class Door:
    """The Client of front ends. The session behind it can be exchanged; whoever listens goes on listening."""

    def __init__(
        self, *, reopen: Reopen | None = None, sessions: ListThem | None = None, preview: PreviewOne | None = None
    ) -> None:
        self._reopen = reopen
        self._lookups = Lookups(self._tell, sessions=sessions, preview=preview)
        self._looking: set[asyncio.Task[None]] = set()
        self._room: Room | None = None
        self._listeners: set[Listener] = set()
        self._replay = Replay()
        self._ended = False
        self._restoring = False
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
        self._replay = Replay(room.session.journal.main.state)
        for listener in self._listeners:
            self._introduce(listener)

    def deliver(self, envelope: Envelope) -> None:
        """What a session published goes to everybody who listens."""
        if self._room is not None:
            self._replay.take(envelope, self._room.session.journal.log(envelope.agent).state)
        for listener in list(self._listeners):
            listener.put(envelope)
        if isinstance(envelope.event, SessionEnded) and envelope.event.reason != "switched":
            self._end()

    def events(self) -> Listener:
        """Everything from now on; ends after SessionEnded."""
        listener = Listener(self._listeners.discard)
        if self._ended:
            listener.end()
            return listener
        self._introduce(listener)
        self._listeners.add(listener)
        return listener

    async def submit(self, op: Op) -> None:
        """Take an op; what comes of it is told by events. After the end nothing is taken."""
        if self._ended:
            return
        self.room.attention.heard(op)
        if isinstance(op, SLOW):
            task = asyncio.create_task(self._process(op), name=type(op).__name__)
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)
            return
        await self._process(op)

    async def _process(self, op: Op) -> None:
        try:
            self._check_restoring(op)
            effect = await self._understood(op)
        except OpRefused as refused:
            tag = str(op.__struct_config__.tag)
            self._tell(OpRejected(op_id=op.op_id, op=tag, reason=str(refused)))
            return
        if op.op_id:
            self._tell(OpAccepted(op_id=op.op_id))
        done = effect()
        if done is not None:
            await done

    def _check_restoring(self, op: Op) -> None:
        if self._restoring and isinstance(op, NOT_WHILE_RESTORING):
            raise OpRefused("files are being restored; send it again when that is done")

    def _tell(self, event: Event) -> None:
        self.room.session.publish(event)

    def _introduce(self, listener: Listener) -> None:
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
        started = replace(
            room.session.started,
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

    def _end(self) -> None:
        self._ended = True
        for task in self._looking:
            task.cancel()
        for listener in list(self._listeners):
            listener.end()

    async def _understood(self, op: Op) -> Effect:
        """Check an op without doing it. Raises OpRefused."""
        session = self.room.session
        runner = session.runners.get(op.agent)
        if runner is None:
            raise OpRefused(f"there is no agent {op.agent!r} in this session")
        if op.agent != MAIN_AGENT and not isinstance(op, FOR_ANY_AGENT):
            raise OpRefused(f"this is for the main agent only, not for {op.agent!r}")
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
                return self._answered(op)
            case Close():
                return self._close
            case SwitchSession():
                return await self._switch(op)
            case _ if isinstance(op, WindowOp | Undo | Redo | Rewind):
                return await self._about_the_past(op)
            case _:
                return await self._about_the_place(op)

    async def _close(self) -> None:
        """Who asked and leaves at once, as a pipe does, still gets the answer, if it takes no longer than a moment."""
        asked = {task for task in self._looking if task.get_name() != FindFiles.__name__}
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

    def _answered(self, op: AnswerApproval | AnswerQuestion | AnswerPlan) -> Effect:
        """With an approval the mode may change in the same moment: it is in force before the call goes on."""
        pending, permits = self.room.session.pending, self.room.permits
        mode = op.mode if isinstance(op, AnswerApproval) else ""
        if not pending.waits_for(op):
            raise OpRefused("nothing waits for this answer any more")
        if isinstance(op, AnswerPlan) and op.mode and op.mode not in MODES:
            raise OpRefused(f"there is no permission mode {op.mode!r}; modes are {', '.join(MODES)}")
        if not mode:
            pending.settle(op)
            return nothing
        if isinstance(op, AnswerApproval) and op.decision == "deny":
            raise OpRefused("a no changes no permission mode")
        try:
            permits.set_mode(mode)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        self._tell(PermissionModeChanged(mode=mode))
        pending.settle(op)
        pending.reconsider()
        return nothing

    async def _about_the_past(self, op: WindowOp | Undo | Redo | Rewind) -> Effect:
        """What the model still sees of it, and going back in it."""
        if self.room.session.lost:
            raise OpRefused(f"nothing was changed: {self.room.session.lost}")
        if isinstance(op, Undo | Redo | Rewind):
            return await self._taken_back(op)
        if self.room.window is None:
            raise OpRefused("the window of this session cannot be changed")
        return await self.room.window().understood(op)

    async def _about_the_place(self, op: Op) -> Effect:
        """Questions, a person's own commands, and what is in force."""
        if isinstance(op, Lookup):
            return await self._lookups.understood(op, self.room)
        if isinstance(op, HookOp):
            return await hook_effect(op, self.room, self._tell)
        if isinstance(op, InvocableOp):
            if self.room.invocables is None:
                raise OpRefused("this session has no commands or skills of the user's")
            return self.room.invocables.understood(op)
        for part in self.room.brought:
            if isinstance(op, part.ops):
                return await part.understood(op)
        if not isinstance(op, RunShell):
            return self._changed(op)
        if self.room.typed is None:
            raise OpRefused("commands cannot be run in this session")
        return self.room.typed.understood(op.command)

    def _changed(self, op: Op) -> Effect:
        """Ops that change what is in force."""
        room = self.room
        agent = room.session.main.agent
        match op:
            case SetModel():
                try:
                    model = room.connect(op.model)
                except LLMError as error:
                    raise OpRefused(str(error)) from error
                if agent.thinking.mode == "disabled" and model.thinks == "always":
                    raise OpRefused(cannot_stop_thinking(model))
                return lambda: self._use(model)
            case SetEffort():
                if op.effort not in EFFORTS:
                    raise OpRefused(f"there is no effort {op.effort!r}; efforts are {', '.join(EFFORTS[1:])}")
                agent.effort = op.effort or None
                return lambda: self._tell(EffortChanged(effort=op.effort))
            case SetPermissionMode():
                try:
                    room.permits.set_mode(op.mode)
                except ValueError as error:
                    raise OpRefused(str(error)) from error
                return lambda: self._in_mode(op.mode)
            case SetTitle():
                if not op.title.strip():
                    raise OpRefused("the title is empty")
                return lambda: self._tell(TitleChanged(title=op.title, source="user"))
            case RequestRecap():
                if room.session.orienting is None:
                    raise OpRefused("recaps are off in this session")
                occasion = "returned" if op.returned else "asked"
                return lambda: ignore(room.session.start_recap(occasion, model=op.model))
            case ReportFocus():
                return nothing  # heard already
            case _:
                raise OpRefused("this is not built yet")

    def _in_mode(self, mode: str) -> None:
        self._tell(PermissionModeChanged(mode=mode))
        self.room.session.pending.reconsider()

    def _use(self, model: Model) -> None:
        session = self.room.session
        session.retire(session.main.agent.own_model)
        session.main.agent.model = model
        self._tell(ModelChanged(model=model.name, reason="user"))

    async def _taken_back(self, op: Undo | Redo | Rewind) -> Effect:
        """Only between turns: nobody else changes files or the conversation meanwhile."""
        room = self.room
        if room.undo is None:
            raise OpRefused("this session is not kept, so there is nothing to go back to")
        if room.session.main.working:
            raise OpRefused("the agent is at work: interrupt it first, or wait until the turn ends")
        from clew.host.rewinding import way_back  # undo is loaded only where it is used

        self._restoring = True
        try:
            back = await way_back(op, room.session, room.undo)
        except BaseException:
            self._restoring = False
            raise

        async def go() -> None:
            try:
                await back()
            finally:
                self._restoring = False

        return go

    async def _switch(self, op: SwitchSession) -> Effect:
        """The other session is opened first: when that fails, this one stays."""
        if self._reopen is None:
            raise OpRefused("this front end has one session only")
        try:
            room = await self._reopen(op)
        except SeveralFit as several:
            return partial(self._tell, SessionsListed(op_id=op.op_id, sessions=several.rows))
        except Exception as error:  # whatever keeps it from opening is told, and nothing was closed
            raise OpRefused(str(error) or type(error).__name__) from error

        async def change() -> None:
            await self.room.session.close("switched")
            self.enter(room)

        return change


def nothing() -> None:
    """The op was done by being understood."""


def ignore(_: Any) -> None:
    """For calls whose answer does not matter here."""
