"""What each op means for the session behind the door: checked first, done afterwards."""

from functools import partial
from typing import Any

from clew.agents.permits import MODES
from clew.host.connection import Connection
from clew.host.hook_ops import HookOp, hook_effect
from clew.parts.models.choice import cannot_stop_thinking
from clew.host.refusal import OpRefused, too_late
from clew.host.room import Effect, Room
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.protocol.events import ModelChanged, PermissionModeChanged, TitleChanged
from clew.protocol.ops import (
    AnswerApproval,
    AnswerPlan,
    AnswerQuestion,
    InvocableOp,
    Op,
    Redo,
    ReportFocus,
    RequestRecap,
    Rewind,
    RunShell,
    SetEffort,
    SetModel,
    SetPermissionMode,
    SetTheme,
    SetTitle,
    Undo,
    WindowOp,
)


class OpEffects:
    """For one session. It is called between two events, so what was checked still holds when it is done."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.restoring = False
        """Files are being brought back: nothing that changes files or the conversation may begin."""

    def answered(self, op: AnswerApproval | AnswerQuestion | AnswerPlan) -> Effect:
        """With an approval the mode may change in the same moment: it is in force before the call goes on."""
        pending, permits = self._room.session.pending, self._room.permits
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
            permits.set_mode(mode)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        self._room.session.publish(PermissionModeChanged(mode=mode))
        pending.settle(op)
        pending.reconsider()
        return nothing

    async def about_the_past(self, op: WindowOp | Undo | Redo | Rewind) -> Effect:
        """What the model still sees of it, and going back in it."""
        if self._room.session.lost:
            raise OpRefused(f"nothing was changed: {self._room.session.lost}")
        if isinstance(op, Undo | Redo | Rewind):
            return await self._taken_back(op)
        if self._room.window is None:
            raise OpRefused("the window of this session cannot be changed")
        return await self._room.window().understood(op)

    async def about_the_place(self, op: Op, asker: Connection) -> Effect:
        """Questions, a person's own commands, and what is in force."""
        if isinstance(op, HookOp):
            return hook_effect(op, self._room)
        if isinstance(op, InvocableOp):
            if self._room.invocables is None:
                raise OpRefused("this session has no commands or skills of the user's")
            await self._room.invocables.settle(op)
            return self._room.invocables.understood(op)
        for part in self._room.brought:
            if isinstance(op, part.ops):
                return await part.understood(op)
        if not isinstance(op, RunShell):
            return self._changed(op)
        if self._room.typed is None:
            raise OpRefused("commands cannot be run in this session")
        return self._room.typed.understood(op.command)

    def _changed(self, op: Op) -> Effect:
        """Ops that change what is in force."""
        room = self._room
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
                from clew.parts.preferences.kept_choices import choose_effort  # settings are written only here

                return partial(room.session.publish, choose_effort(op, agent, room.workspace))
            case SetTheme():
                from clew.parts.preferences.kept_choices import choose_theme  # as above

                return partial(room.session.publish, choose_theme(op, room.workspace))
            case SetPermissionMode():
                try:
                    room.permits.set_mode(op.mode)
                except ValueError as error:
                    raise OpRefused(str(error)) from error
                return lambda: self._in_mode(op.mode)
            case SetTitle():
                if not op.title.strip():
                    raise OpRefused("the title is empty")
                return lambda: self._room.session.publish(TitleChanged(title=op.title, source="user"))
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
        self._room.session.publish(PermissionModeChanged(mode=mode))
        self._room.session.pending.reconsider()

    def _use(self, model: Model) -> None:
        session = self._room.session
        session.retire(session.main.agent.own_model)
        session.main.agent.model = model
        self._room.session.publish(ModelChanged(model=model.name, reason="user"))

    async def _taken_back(self, op: Undo | Redo | Rewind) -> Effect:
        """Only between turns: nobody else changes files or the conversation meanwhile."""
        room = self._room
        if room.undo is None:
            raise OpRefused("this session is not kept, so there is nothing to go back to")
        if room.session.main.working:
            raise OpRefused("the agent is at work: interrupt it first, or wait until the turn ends")
        from clew.parts.undo.way_back import way_back  # undo is loaded only where it is used

        self.restoring = True
        try:
            back = await way_back(op, room.session, room.undo)
        except BaseException:
            self.restoring = False
            raise

        async def go() -> None:
            try:
                await back()
            finally:
                self.restoring = False

        return go


def nothing() -> None:
    """The op was done by being understood."""


def ignore(_: Any) -> None:
    """For calls whose answer does not matter here."""
