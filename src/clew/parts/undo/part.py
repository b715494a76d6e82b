"""Going back in a session: /undo, /redo and /rewind, their previews, and what the session changed so far."""

import asyncio
import os

from msgspec.structs import replace

from clew.agents.undo_hook import UndoHook
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.parts.undo.way_back import preview, way_back
from clew.protocol.events import Event, Question, QuestionAnswered, QuestionAsked, Rewound
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, RequestId, new_uuid
from clew.protocol.lookups.session import (
    DiffShown,
    PreviewRedo,
    PreviewRewind,
    PreviewUndo,
    RewindPreviewed,
    ShowDiff,
)
from clew.protocol.ops import (
    AnswerQuestion,
    ContinueTurn,
    Op,
    Redo,
    Rewind,
    SubmitPrompt,
    SwitchSession,
    Undo,
    UseInvocable,
)
from clew.system.git.command import GitRefused, open_git
from clew.undo.errors import NothingToRestore, UndoError

MAX_DIFF_FILES = 200
MAX_NAMED = 20
NOT_WHILE_RESTORING = (SubmitPrompt, UseInvocable, ContinueTurn, SwitchSession, Undo, Redo, Rewind)
BUSY = "files are being restored; send it again when that is done"
NOT_KEPT = "this session is not kept, so there is nothing to go back to"


class UndoPart(Part):
    """Works only between turns: nobody else changes files or the conversation meanwhile. The files themselves are kept
    by the session's `UndoHook`."""

    def __init__(self, setup: PartSetup | None = None) -> None:
        """`setup`: without it nothing is known of the place, and no file is ignored."""
        self._place = setup.workspace if setup is not None else None
        self._path = setup.past.path if setup is not None else None
        """The log: prompts that left the window long ago are only there."""
        self._undo: UndoHook | None = None
        self._asking: asyncio.Task[None] | None = None
        self._restoring = False
        """Files are being brought back: nothing that changes files or the conversation may begin."""
        self._announced = False
        """The files of the newest restore are back and people know; at most its record is still to be closed."""

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session
        self._remind = own.reminders.add
        self._undo = own.toolbox.undo

    def objection(self, op: Op) -> str:
        """While files are restored nothing else is begun."""
        busy = self._restoring and not self._announced
        return BUSY if busy and isinstance(op, NOT_WHILE_RESTORING) else ""

    def on(self, event: Event, agent: AgentId) -> None:
        """The model learns that files are not as it left them."""
        if agent != MAIN_AGENT or not isinstance(event, Rewound):
            return
        self._announced = True
        if names := [item.path for item in event.files if not item.conflict]:
            more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
            words = "undone changes were made again" if event.direction == "redo" else "changes were taken back"
            self._remind(f"[The user restored files, {words}: {', '.join(names[:MAX_NAMED])}{more}]")

    def ops(self) -> OpHandlers:
        """The three ways."""
        return {Undo: self._back, Redo: self._back, Rewind: self._back}

    def lookups(self) -> Answerers:
        """What they would do, and what there is to take back."""
        return {
            PreviewRewind: self._preview,
            PreviewUndo: self._preview,
            PreviewRedo: self._preview,
            ShowDiff: self._diff,
        }

    async def _back(self, op: Undo | Redo | Rewind) -> Effect:
        if self._session.lost:
            raise OpRefused(f"nothing was changed: {self._session.lost}")
        if self._announced and self._asking is not None:
            await asyncio.wait({self._asking})  # it was told already, and only closes its record
        undo = self._between_turns()

        self._restoring, self._announced = True, False
        try:
            back = await way_back(op, self._session, undo, self._path, self._ask)
        except BaseException:
            self._restoring = False
            raise

        async def go() -> None:
            try:
                await back()
            finally:
                self._restoring = False

        if not isinstance(op, Redo):
            return go

        def begin() -> None:
            self._asking = asyncio.create_task(go())  # whoever is asked answers through the same door

        return begin

    async def _ask(self, question: Question) -> bool:
        """Put a question to a person that no call of the agent's asks; both sides are in the log."""
        pending, session = self._session.pending, self._session
        request_id, call_id = RequestId(new_uuid()), CallId(f"own_{new_uuid()}")
        waiting = pending.open(request_id, AnswerQuestion, MAIN_AGENT)
        answered = QuestionAnswered(request_id=request_id, call_id=call_id, declined=True, by="interrupt")
        try:
            session.publish(QuestionAsked(request_id=request_id, call_id=call_id, questions=(question,)))
            answer = await waiting
            assert isinstance(answer, AnswerQuestion)
            answered = replace(answered, answers=answer.answers, declined=answer.declined, by=answer.by, via=answer.via)
        finally:
            pending.forget(request_id)
            session.publish(answered)
        return not answered.declined and answered.answers == ((question.choices[0].label,),)

    async def stop(self) -> None:
        """The session ends: nobody's answer counts any more."""
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _preview(self, lookup: PreviewRewind | PreviewUndo | PreviewRedo) -> RewindPreviewed:
        if self._restoring and not self._announced:
            raise OpRefused(BUSY)
        undo = self._between_turns()

        return await preview(lookup, self._session, undo, self._path)

    def _between_turns(self) -> UndoHook:
        if self._undo is None:
            raise OpRefused(NOT_KEPT)
        if self._session.main.working:
            raise OpRefused("the agent is at work: interrupt it first, or wait until the turn ends")
        return self._undo

    async def _diff(self, lookup: ShowDiff) -> DiffShown:
        if self._undo is None:
            raise OpRefused("this session is not kept, so nobody knows what it changed; git diff may tell")
        try:
            keeper = await self._undo.keeper()
            plan = await keeper.plan_since("")
            wanted = [file for file in plan.files if lookup.path in file.path]
            left = await asyncio.to_thread(self._ignored, [file.path for file in wanted]) if not lookup.path else ()
            wanted = [file for file in wanted if file.path not in left]
            blocks = await keeper.changed(wanted[:MAX_DIFF_FILES])
        except NothingToRestore:
            return DiffShown(files=())
        except (UndoError, OSError) as error:
            raise OpRefused(f"the kept files cannot be read: {error}") from error
        too_many = max(0, len(wanted) - MAX_DIFF_FILES)
        ignored = sum(not os.path.isdir(path) for path in left)
        return DiffShown(files=blocks, left_out=too_many, ignored=ignored, warnings=plan.warnings)

    def _ignored(self, paths: list[str]) -> frozenset[str]:
        """Asked of git, so only where the project is trusted."""
        place = self._place
        if place is None or place.repository is None or not place.trusted or not paths:
            return frozenset()
        try:
            git = open_git(place.repository, trusted=True, env=place.env)
            return git.ignored(paths) if git is not None else frozenset()
        except (GitRefused, OSError):
            return frozenset()
