"""Plan mode in a session: on, off, what the model is told of it, and a plan on its way to a person and back."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from pathlib import Path

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Prompt, Turn
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.protocol.display import TextBlock
from clew.protocol.entries import AssistantEntry, Entry, EventEntry
from clew.protocol.event_kinds.asks import PlanStanding
from clew.protocol.events import Event, PermissionModeChanged, PlanAnswered
from clew.protocol.ids import AgentId
from clew.protocol.lookups.session import OpenPlan, PlanOpened, PlanShown, SavePlan, ShowPlan
from clew.protocol.messages import ToolCallPart
from clew.protocol.ops import CheckPlan
from clew.protocol.state import AgentState
from clew.system.private_files import private_dir, replace_private
from clew.tools.base import PlanProposal, ToolResult
from clew.tools.paths import problem
from clew.transcript.log.store import plan_path

MAX_PLAN_BYTES = 200_000
PROPOSES = "ExitPlanMode"


class PlanFile:
    """Read anew each time: people edit it. Nothing is written before there is something to keep."""

    def __init__(self, path: Path | None, known: Callable[[], str]) -> None:
        """`path` None: the session is not kept. `known`: the plan that was brought along, as long as there is no
        file."""
        self.path = path
        self._known = known
        self._text: str | None = None
        """What was written where there is no file."""

    @property
    def shown_path(self) -> str:
        """For people and the model; empty: there is none."""
        return str(self.path) if self.path is not None else ""

    def text(self) -> str:
        """The plan as it stands; empty: there is none."""
        if self._text is not None:
            return self._text
        found = read_plan(self.path) if self.path is not None else None
        return self._known() if found is None else found

    def write(self, text: str) -> None:
        """Put this in its place, whole or not at all. Raises OSError."""
        if self.path is None:
            self._text = text
        else:
            replace_private(self.path, text.encode("utf-8", "replace"))

    def keep(self) -> None:
        """What was brought along becomes a file of this session, and its folder is there. Raises OSError."""
        if self.path is None:
            return
        if not self.path.exists() and (known := self._known()):
            self.write(known)
        private_dir(self.path.parent)


def read_plan(path: Path) -> str | None:
    """A plan's file, as far as one would read it; None: there is none that can be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_PLAN_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def plan_in(entries: Iterable[Entry]) -> str:
    """The newest plan that a log tells of, given its entries from the newest on."""
    for entry in entries:
        if isinstance(entry, EventEntry) and isinstance(entry.event, PlanAnswered) and entry.event.plan:
            return entry.event.plan
        if isinstance(entry, AssistantEntry):
            for part in entry.message.content:
                if isinstance(part, ToolCallPart) and part.name == PROPOSES:
                    plan = part.arguments.get("plan")
                    return plan if isinstance(plan, str) else ""
    return ""


PLAN = "plan"
LOOSER = ("acceptEdits", "bypassPermissions")
"""Modes in which edits are not asked about: a plain yes to a plan never brings one back."""
Propose = Callable[[PlanProposal], Awaitable[PlanAnswered]]
ON = (
    "[Plan mode is on: read and think, change nothing. Commands run only where they are proven to just read.{file}"
    " {end} Ask the user what only they can know.]"
)
OFF = "[Plan mode is off. The permission mode is {mode}.]"
UNANSWERED = "[Your last plan was shown and not answered. It is in {path}. Show it again with ExitPlanMode.]"
CHECK = (
    "Check the work so far against the plan below. Go through it item by item: done, partly done, not done, or done"
    " otherwise, each with what you looked at now to know it (file and line, command, test). Change nothing."
    " End with what is missing.\n\nFiles changed in this session: {files}\n\nThe plan:\n\n{plan}"
)
MAX_FILES_NAMED = 40


class PlanPart(Part, Middleware):
    """One per session. It is the tools' `PlanPort`, and tells the model of the mode before the next request."""

    def __init__(self, setup: PartSetup) -> None:
        past, request = setup.past, setup.request
        copied = plan_path(Path(request.resume)) if request.fork and request.resume else None
        seed = (lambda: read_plan(copied) or plan_in(reversed(past.entries))) if copied else None
        self.file = PlanFile(
            plan_path(past.path) if past.path is not None else None,
            seed or (lambda: plan_in(reversed(past.entries))),
        )
        self.middlewares = (self,)
        self._past = past.state()
        mode = setup.workspace.settings.permission_mode
        goes_on = past.resumed and self._past.permission_mode == PLAN and not request.flags.get("permissionMode")
        self._starts_in = PLAN if goes_on else mode
        self._before = mode if mode != PLAN else "default"
        self._last = self._starts_in
        self._by_program = request.headless
        self._only_reads = setup.main.permission_mode == PLAN
        """The conversation runs as an agent whose own words say that it changes nothing: it is not told twice."""
        self._told = past.resumed and self._past.permission_mode == PLAN and self._starts_in != PLAN
        """Whether the model believes that plan mode is on."""
        self._kept = not past.resumed
        self._checks = setup.workspace.settings.plan.check == "auto"
        self._to_check = False
        self._over = False
        """The plan is all that this turn can come to: nobody is there to accept it."""
        if past.resumed and self._past.plan == "proposed":
            self.notes = ("a plan was shown and not answered: /plan shows it; it is asked about again when you go on",)

    def start(self, own: PartSession) -> None:
        """Take the mode up where it was; nothing is written before the first step."""
        self._own = own
        self._permits = own.toolbox.permits
        own.toolbox.session.use_plan(self)
        self._permits.use_plan_file(os.path.realpath(self.file.path) if self.file.path is not None else "")
        if self._starts_in != self._permits.policy.mode:
            self._permits.set_mode(self._starts_in)

    @property
    def planning(self) -> bool:
        """Plan mode is on."""
        return self._permits.policy.mode == PLAN

    @property
    def standing(self) -> PlanStanding:
        """What became of the last plan."""
        found = self._state.plan
        return found or ("draft" if self.file.text().strip() else "")

    @property
    def carried(self) -> str:
        """A plan that was sent back is forgotten, unless another is being made."""
        return self.file.text() if self.planning or self.standing == "accepted" else ""

    @property
    def _state(self) -> AgentState:
        return self._own.session.journal.main.state

    @property
    def _after_yes(self) -> str:
        """The mode before plan mode, never looser than default: on its way there Shift-Tab passes through others,
        and edits without asking are an answer of their own. A program names the mode that it wants with its answer."""
        return "default" if self._before in LOOSER and not self._by_program else self._before

    def on(self, event: Event, agent: AgentId) -> None:
        """Which mode was in force before planning."""
        if isinstance(event, PermissionModeChanged):
            if event.mode == PLAN and self._last != PLAN:
                self._before = self._last
            self._last = event.mode

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Words about the mode, as it is now and not as often as it changed."""
        if not self._kept:
            self._kept = True
            self.file.keep()
        if self.planning == self._told or (self.planning and self._only_reads and self._state.permission_mode == PLAN):
            return
        self._told = self.planning
        if not self.planning:
            yield turn.accept(OFF.format(mode=self._permits.policy.mode))
            return
        if self._state.permission_mode != PLAN:  # it began so, and a resumed session must know
            self._own.session.journal.main.note_mode(PLAN)
        if self._only_reads:
            self._told = False
            return
        self.file.keep()
        yield turn.accept(self._words())
        if self._past.plan == "proposed" and self._state.plan == "proposed":
            yield turn.accept(UNANSWERED.format(path=self.file.shown_path or "the log"))

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Where nobody could accept the plan, it is the end of the turn and its result."""
        if self._over:
            self._over, turn.unanswered, turn.gave_output = False, False, True
        return
        yield  # pyright: ignore[reportUnreachable] (makes it a generator, as every moment is)

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """The step that a setting asks for: the work is held against the plan once."""
        if self._to_check and turn.effects and not turn.unanswered and not self.planning:
            self._to_check = False
            turn.unanswered = True
            yield turn.accept(self._check())

    def _words(self) -> str:
        names = self._own.toolbox.tools.names
        path = self.file.shown_path
        file = f" The one file you may write is the plan, {path}." if path and "Write" in names else ""
        end = f"When the plan is whole, call {PROPOSES} with it." if PROPOSES in names else "Answer with the plan."
        return ON.format(file=file, end=end)

    def enter(self) -> str:
        """The model may think first."""
        if self.planning:
            return "Plan mode is on already."
        self._set_mode(PLAN)
        self._told = True
        self.file.keep()
        return self._words()

    async def propose(self, plan: str, propose: Propose) -> ToolResult:
        """What the person says is on disk before the mode changes."""
        try:
            self.file.write(plan)
        except OSError as error:
            return problem(f"The plan could not be kept: {error.strerror}. Nothing was shown; try again.")
        proposed = PlanProposal(
            plan=plan, path=self.file.shown_path, mode_after=self._after_yes, as_it_stands=self.file.text
        )
        answered = await propose(proposed)
        if answered.decision == "keep_planning":
            return self._sent_back(answered)
        if answered.plan:
            self.file.write(answered.plan)
        self._to_check = self._checks
        mode = "acceptEdits" if answered.decision == "accept_edits" else answered.mode or self._after_yes
        self._set_mode(mode)
        self._told = mode == PLAN
        edited = f" They changed it; this is what counts:\n\n{answered.plan}\n\n" if answered.plan else " "
        where = f"It is kept in {self.file.shown_path}. " if self.file.shown_path else ""
        how = "edits are accepted without asking" if mode == "acceptEdits" else f"the permission mode is {mode}"
        return ToolResult(
            text=f"The user accepted the plan.{edited}{where}Plan mode is off: {how}. Carry it out.",
            display=(TextBlock(text=answered.plan or plan),),
        )

    def _sent_back(self, answered: PlanAnswered) -> ToolResult:
        if answered.by == "nobody":
            self._over = True
            return ToolResult(text="Nobody is there to accept the plan: it stands as the result. Plan mode stays on.")
        said = f" The user says: {answered.comment}" if answered.comment.strip() else ""
        return ToolResult(text=f"The user did not approve the plan: plan mode stays on.{said}")  # an answer, no failure

    def _set_mode(self, mode: str) -> None:
        self._permits.set_mode(mode)
        self._own.session.publish(PermissionModeChanged(mode=mode))
        self._own.session.pending.reconsider()

    def lookups(self) -> Answerers:
        return {ShowPlan: self._shown, OpenPlan: self._opened, SavePlan: self._saved}

    async def _shown(self, lookup: ShowPlan | SavePlan) -> PlanShown:
        saved = isinstance(lookup, SavePlan)
        return PlanShown(plan=self.file.text(), path=self.file.shown_path, standing=self.standing, saved=saved)

    async def _opened(self, lookup: OpenPlan) -> PlanOpened:
        """For a person's editor."""
        return PlanOpened(plan=self.file.text(), path=self.file.shown_path)

    async def _saved(self, lookup: SavePlan) -> PlanShown:
        try:
            self.save(lookup.plan)
        except OSError as error:
            raise OpRefused(f"the plan was not saved: {error.strerror}") from error
        return await self._shown(lookup)

    def save(self, text: str) -> None:
        """A person's own text. While it is being asked about, the answer takes it; else the model is told. Raises
        OSError."""
        if text == self.file.text():
            return
        self.file.write(text)
        if not any(getattr(waiting, "plan", "") for waiting in self._state.waiting):
            self._own.reminders.add(f"[The user edited the plan. It now reads:\n\n{text}\n]")

    def ops(self) -> OpHandlers:
        """The check of the work against the plan."""
        return {CheckPlan: self._check_asked}

    async def _check_asked(self, op: CheckPlan) -> Effect:
        """Hold the work against the plan."""
        if not self.file.text().strip():
            raise OpRefused("there is no plan to check against")
        return lambda: self._own.session.main.submit(Prompt(content=self._check()))

    def _check(self) -> str:
        changed = [f"{file.path} +{file.added} -{file.removed}" for file in self._state.files]
        named = ", ".join(changed[:MAX_FILES_NAMED]) or "none"
        more = f" and {len(changed) - MAX_FILES_NAMED} more" if len(changed) > MAX_FILES_NAMED else ""
        return CHECK.format(files=named + more, plan=self.file.text())
