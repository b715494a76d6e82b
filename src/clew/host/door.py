"""The door: ops in, events out, for any number of front ends in this process."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from clew.engine.turn import Prompt
from clew.host.listener import Listener
from clew.host.permits import Permits
from clew.host.refusal import OpRefused
from clew.host.replay import Replay
from clew.host.session import Session
from clew.host.undo_hook import UndoHook
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.permissions.rules import RuleError
from clew.protocol.events import (
    ColdReturn,
    EffortChanged,
    Envelope,
    Event,
    HistoryLoaded,
    ModelChanged,
    ModelsListed,
    Notice,
    OpAccepted,
    OpRejected,
    PermissionModeChanged,
    RulesListed,
    SessionEnded,
    SessionRow,
    SessionsListed,
    SessionStarted,
    SnapshotTaken,
    TitleChanged,
)
from clew.protocol.ids import MAIN_AGENT, PromptId, new_uuid
from clew.protocol.ops import (
    AllowRule,
    AnswerApproval,
    AnswerQuestion,
    Close,
    ContinueTurn,
    Interrupt,
    ListModels,
    ListRules,
    ListSessions,
    LoadHistory,
    Op,
    Redo,
    RemoveRule,
    RequestRecap,
    Rewind,
    SetEffort,
    SetModel,
    SetPermissionMode,
    SetTitle,
    SubmitPrompt,
    SwitchSession,
    Undo,
    WindowOp,
    WithdrawPrompt,
)
from clew.transcript.scrollback import Scrollback

if TYPE_CHECKING:
    from clew.host.window import Window

EFFORTS = ("", "low", "medium", "high", "xhigh", "max")
Effect = Callable[[], Awaitable[None] | None]
"""What an op does once it was understood and accepted."""


class Room(Struct, kw_only=True):
    """What lies behind a door: a session and what ops need besides."""

    session: Session
    permits: Permits
    connect: Callable[[str], Model]
    models: Callable[[], tuple[str, ...]]
    scrollback: Scrollback | None = None
    undo: UndoHook | None = None
    """What keeps files; None where nothing is kept."""
    window: "Callable[[], Window] | None" = None
    """What is behind the ops about the window; loaded by the first of them."""
    notes: tuple[Notice | ColdReturn, ...] = ()
    """What the first front end should be told."""
    go_on: Prompt | None = None
    """What lets a turn that was cut off go on."""
    greet: bool = False
    """Tell the first front end where things stand."""


Reopen = Callable[[SwitchSession], Awaitable[Room]]
ListThem = Callable[[str, int], Awaitable[tuple[SessionRow, ...]]]


class Door:
    """The Client of front ends. The session behind it can be exchanged; whoever listens goes on listening."""

    def __init__(self, *, reopen: Reopen | None = None, sessions: ListThem | None = None) -> None:
        self._reopen = reopen
        self._sessions = sessions
        self._room: Room | None = None
        self._listeners: set[Listener] = set()
        self._replay = Replay()
        self._ended = False
        self._restoring = False

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
        if envelope.agent == MAIN_AGENT and self._room is not None:
            self._replay.take(envelope, self._room.session.journal.main.state)
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
        if self._restoring and isinstance(op, SubmitPrompt | ContinueTurn | SwitchSession | Undo | Redo | Rewind):
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
            session.start_recap(model=False, asked=False)

    def _started(self) -> SessionStarted:
        room = self.room
        agent, stamp = room.session.main.agent, room.session.journal.main.stamp
        return replace(
            room.session.started,
            model=agent.model.name,
            effort=agent.effort or "",
            permission_mode=room.permits.policy.mode,
            cwd=stamp.cwd,
            branch=stamp.git_branch,
        )

    def _snapshot(self) -> SnapshotTaken:
        return SnapshotTaken(state=self._replay.state, last_entry_id=self.room.session.journal.main.conversation.leaf)

    def _end(self) -> None:
        self._ended = True
        for listener in list(self._listeners):
            listener.end()

    async def _understood(self, op: Op) -> Effect:
        """Check an op without doing it. Raises OpRefused."""
        session = self.room.session
        match op:
            case SubmitPrompt():
                if session.lost:
                    raise OpRefused(f"nothing was sent: {session.lost}")
                prompt = Prompt(content=op.content, origin=op.origin, prompt_id=op.prompt_id or PromptId(new_uuid()))
                return partial(session.main.submit, prompt)
            case ContinueTurn():
                if self.room.go_on is None or session.main.working:
                    raise OpRefused("the session ended in order, so there is nothing to go on with; give a prompt")
                return partial(session.main.submit, self.room.go_on)
            case WithdrawPrompt():
                if not session.main.withdraw(op.prompt_id):
                    raise OpRefused("it has joined the conversation already")
                return nothing
            case Interrupt():
                runner = session.runners.get(op.agent)
                return lambda: ignore(runner.interrupt()) if runner is not None else None
            case AnswerApproval() | AnswerQuestion():
                if not session.pending.settle(op):
                    raise OpRefused("nothing waits for this answer any more")
                return nothing
            case Close():
                return session.close
            case SwitchSession():
                return await self._switch(op)
            case _ if isinstance(op, WindowOp | Undo | Redo | Rewind):
                return await self._about_the_past(op)
            case LoadHistory() | ListModels() | ListRules() | AllowRule() | RemoveRule() | ListSessions():
                return await self._looked_up(op)
            case _:
                return self._changed(op)

    async def _about_the_past(self, op: WindowOp | Undo | Redo | Rewind) -> Effect:
        """What the model still sees of it, and going back in it."""
        if self.room.session.lost:
            raise OpRefused(f"nothing was changed: {self.room.session.lost}")
        if isinstance(op, Undo | Redo | Rewind):
            return await self._taken_back(op)
        if self.room.window is None:
            raise OpRefused("the window of this session cannot be changed")
        return await self.room.window().understood(op)

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
                return lambda: self._tell(PermissionModeChanged(mode=op.mode))
            case SetTitle():
                if not op.title.strip():
                    raise OpRefused("the title is empty")
                return lambda: self._tell(TitleChanged(title=op.title, source="user"))
            case RequestRecap():
                if room.session.orienting is None:
                    raise OpRefused("recaps are off in this session")
                return lambda: ignore(room.session.start_recap(model=op.model, asked=True))
            case _:
                raise OpRefused("this is not built yet")

    def _use(self, model: Model) -> None:
        session = self.room.session
        session.retire(session.main.agent.model)
        session.main.agent.model = model
        self._tell(ModelChanged(model=model.name, reason="user"))

    async def _looked_up(
        self, op: LoadHistory | ListModels | ListRules | AllowRule | RemoveRule | ListSessions
    ) -> Effect:
        """Ops that are answered by one event."""
        room = self.room
        match op:
            case LoadHistory():
                if room.scrollback is None:
                    raise OpRefused("this session is not kept, so there is no history to load")
                leaf = room.session.journal.main.conversation.leaf
                page = await asyncio.to_thread(room.scrollback.page, op.before, op.limit, leaf)
                return lambda: self._tell(HistoryLoaded(op_id=op.op_id, events=page.events, before=page.before))
            case ListModels():
                return lambda: self._tell(ModelsListed(op_id=op.op_id, models=room.models()))
            case ListRules():
                return lambda: self._tell(self._rules(op))
            case AllowRule():
                try:
                    room.permits.allow(op.rule)
                except RuleError as error:
                    raise OpRefused(str(error)) from error
                except OSError as error:
                    raise OpRefused(f"{op.rule} cannot be saved: {error.strerror}") from error
                return lambda: self._tell(self._rules(op))
            case RemoveRule():
                try:
                    room.permits.forget(op.rule)
                except KeyError as error:
                    words = f'{op.rule} was not saved with "always"; rules in settings are changed there'
                    raise OpRefused(words) from error
                except OSError as error:
                    raise OpRefused(f"{op.rule} cannot be removed: {error.strerror}") from error
                return lambda: self._tell(self._rules(op))
            case ListSessions():
                if self._sessions is None:
                    raise OpRefused("there is no list of sessions here")
                rows = await self._sessions(op.query, op.limit)
                return lambda: self._tell(SessionsListed(op_id=op.op_id, sessions=rows))

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

    def _rules(self, op: ListRules | AllowRule | RemoveRule) -> RulesListed:
        permits = self.room.permits
        return RulesListed(op_id=op.op_id, mode=permits.policy.mode, rules=permits.rows())

    async def _switch(self, op: SwitchSession) -> Effect:
        """The other session is opened first: when that fails, this one stays."""
        if self._reopen is None:
            raise OpRefused("this front end has one session only")
        try:
            room = await self._reopen(op)
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
