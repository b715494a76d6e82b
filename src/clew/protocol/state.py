"""What is known of a session and its agents from their events: one pure fold, for the host and for every front end.

`after` takes the envelope, because an event means something only with its agent: the end of one agent's turn closes no
ask of another agent.
"""

from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.agent_events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    TaskChanged,
    TaskEnded,
    TaskRow,
    TaskStarted,
)
from clew.protocol.asking import (
    Answered,
    ApprovalResolved,
    Ask,
    PlanAnswered,
    PlanProposed,
    PlanStanding,
)
from clew.protocol.context_events import (
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    ContextMeasured,
    ItemPinned,
)
from clew.protocol.display import DiffBlock, TerminalBlock, TodoBlock, TodoItem
from clew.protocol.event_base import Envelope, EventBase
from clew.protocol.ids import MAIN_AGENT, AgentId, TaskId
from clew.protocol.messages import text_of
from clew.protocol.session_words import PermissionModeChanged, RecapReady, TitleChanged
from clew.protocol.shell_events import ShellEnded, ShellStarted
from clew.protocol.standing import Standing, standing_after
from clew.protocol.tally import Tally
from clew.protocol.turn_events import (
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    StepStarted,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.unions import union_of

if TYPE_CHECKING:
    AnyAsk = Ask
else:
    AnyAsk = union_of(Ask)

S = TypeVar("S", bound="AgentState")
MAX_FILES = 500
MAX_DENIALS = 100
MAX_ENDED_TASKS = 20
MAX_PROMPT_CHARS = 500


class FileChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines added to and removed from one file, over all its edits."""

    path: str
    added: int = 0
    removed: int = 0
    created: bool = False


class AgentState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fold over one agent's events; figures cover its whole log, resumes included."""

    title: str = ""
    title_by_user: bool = False
    turns: int = 0
    steps: int = 0
    calls: int = 0
    failed_calls: int = 0
    refused_calls: int = 0
    commands: int = 0
    tally: Tally = Tally()
    files: tuple[FileChange, ...] = ()
    denials: tuple[str, ...] = ()
    """Tool and subject of each denied approval, newest last."""
    saved_rules: tuple[str, ...] = ()
    """Rules saved with "always" in this session."""
    todos: tuple[TodoItem, ...] = ()
    recap: str = ""
    pins: tuple[ItemPinned, ...] = ()
    """What crosses every compaction, oldest first."""
    permission_mode: str = ""
    """The one that was chosen last; empty: none was, since the session began."""
    plan: PlanStanding = ""
    """What became of the last plan."""
    last_prompt: str = ""
    """What the user said last, clipped."""
    last_reason: str = ""
    """How the last turn ended."""
    working: bool = False
    compacting: bool = False
    """The view is being made smaller, between turns or within one."""
    waiting: tuple[AnyAsk, ...] = ()
    """What a person must answer, oldest first."""
    queued: tuple[PromptQueued, ...] = ()
    """Input that has not joined yet."""
    typed: tuple[ShellStarted, ...] = ()
    """Commands the user typed that still run."""
    tasks: tuple[TaskRow, ...] = ()
    """Work beside its turns, and its child agents: what is open, and the newest that ended; oldest first."""
    children: Tally = Tally()
    """What its children used that have ended."""
    meter: ContextMeasured | None = None
    """How full the window was when it was last measured."""

    @property
    def standing(self) -> Standing:
        """How the agent stands now. What is asked comes first: nothing goes on without an answer."""
        if self.waiting:
            return self.waiting[0].standing
        if self.working or self.compacting or self.queued:
            return Standing.WORKING
        return standing_after(self.last_reason)

    def figures(self) -> "AgentState":
        """Without what holds only while a process runs: this part is kept in the log."""
        tasks = tuple(row for row in self.tasks if row.standing.open)
        return replace(self, working=False, compacting=False, waiting=(), queued=(), typed=(), tasks=tasks, meter=None)

    def left_behind(self) -> "AgentState":
        """The figures of an agent whose process is gone: what was open then was interrupted."""
        kept = self.figures()
        return replace(kept, tasks=tuple(replace(row, standing=Standing.INTERRUPTED) for row in kept.tasks))


class OpenAsk(NamedTuple):
    """An ask with the agent that waits for its answer."""

    agent: AgentId
    ask: Ask


class SessionState(AgentState, frozen=True, kw_only=True):
    """The state of the main agent, and of every other one by its id. What a front end that joins late must know."""

    agents: dict[AgentId, AgentState] = {}
    """The agents beside the main one that did anything in this process and have not ended."""

    def of(self, agent: AgentId) -> AgentState:
        """One agent's state."""
        return self if agent == MAIN_AGENT else self.agents.get(agent, AgentState())

    @property
    def asks(self) -> tuple[OpenAsk, ...]:
        """What a person must answer, whoever asks: the main agent's first, each agent's oldest first."""
        children = (OpenAsk(agent, ask) for agent, state in self.agents.items() for ask in state.waiting)
        return (*(OpenAsk(MAIN_AGENT, ask) for ask in self.waiting), *children)

    @property
    def spent(self) -> Tally:
        """What all agents used, in sum."""
        return sum((state.tally + state.children for state in self.agents.values()), self.tally + self.children)

    @property
    def all_tasks(self) -> tuple[TaskRow, ...]:
        """What runs beside turns, and what did, whichever agent owns it."""
        return (*self.tasks, *(row for state in self.agents.values() for row in state.tasks))

    @property
    def session_standing(self) -> Standing:
        """How the session stands: what any agent asks comes first, then what any agent does."""
        if asks := self.asks:
            return asks[0].ask.standing
        if any(state.standing.open for state in self.agents.values()):
            return Standing.WORKING
        return self.standing


def session_state(main: AgentState, agents: dict[AgentId, AgentState] | None = None) -> SessionState:
    """The states of all agents as one."""
    fields = {name: getattr(main, name) for name in AgentState.__struct_fields__}
    return SessionState(**fields, agents=agents or {})


def after(envelope: Envelope, state: SessionState) -> SessionState:
    """The state after this event of its agent. Events that change nothing return an equal state."""
    if isinstance(envelope.event, AgentEnded) and envelope.event.child in state.agents:
        agents = {agent: known for agent, known in state.agents.items() if agent != envelope.event.child}
        state = replace(state, agents=agents)
    if envelope.agent == MAIN_AGENT:
        return agent_after(envelope.event, state)
    known = state.agents.get(envelope.agent, AgentState())
    now = agent_after(envelope.event, known)
    return state if now is known else replace(state, agents={**state.agents, envelope.agent: now})


def agent_after(event: EventBase, state: S) -> S:
    """The same for the state of the agent that the event is about."""
    tally = state.tally.after(event)
    return _fold(event, state if tally is state.tally else replace(state, tally=tally))


@singledispatch
def _fold(event: EventBase, state: Any) -> Any:
    """`replace` keeps the class of a state, so what comes in as a session's comes out as one."""
    return state


@_fold.register
def _(event: TurnStarted, state: AgentState) -> AgentState:
    return replace(state, working=True)


@_fold.register
def _(event: StepStarted, state: AgentState) -> AgentState:
    return replace(state, steps=state.steps + 1)


@_fold.register
def _(event: PromptQueued, state: AgentState) -> AgentState:
    return replace(state, queued=(*state.queued, event))


@_fold.register
def _(event: PromptWithdrawn, state: AgentState) -> AgentState:
    return replace(state, queued=tuple(item for item in state.queued if item.prompt_id != event.prompt_id))


@_fold.register
def _(event: PromptAccepted, state: AgentState) -> AgentState:
    queued = tuple(item for item in state.queued if item.prompt_id != event.prompt_id)
    last = state.last_prompt if event.hidden else text_of(event.content)[:MAX_PROMPT_CHARS]
    return replace(state, queued=queued, last_prompt=last)


@_fold.register
def _(event: ToolEnded, state: AgentState) -> AgentState:
    files, todos, ran = state.files, state.todos, 0
    for block in event.display:
        if isinstance(block, DiffBlock) and not event.result.is_error:
            files = with_change(files, block)
        elif isinstance(block, TerminalBlock):
            ran += 1
        elif isinstance(block, TodoBlock):
            todos = block.items
    return replace(
        state,
        files=files,
        todos=todos,
        calls=state.calls + 1,
        refused_calls=state.refused_calls + event.refused,
        failed_calls=state.failed_calls + (event.result.is_error and not event.refused),
        commands=state.commands + ran,
    )


def with_change(files: tuple[FileChange, ...], block: DiffBlock) -> tuple[FileChange, ...]:
    """The list with this change added to its file's row; order of first change, bounded."""
    for index, known in enumerate(files):
        if known.path == block.path:
            summed = replace(known, added=known.added + block.added, removed=known.removed + block.removed)
            return (*files[:index], summed, *files[index + 1 :])
    fresh = FileChange(path=block.path, added=block.added, removed=block.removed, created=block.created)
    return (*files, fresh)[-MAX_FILES:]


@_fold.register
def _(event: TurnEnded, state: AgentState) -> AgentState:
    return replace(state, working=False, compacting=False, turns=state.turns + 1, waiting=(), last_reason=event.reason)


@_fold.register
def _(event: Ask, state: AgentState) -> AgentState:
    if any(known.request_id == event.request_id for known in state.waiting):
        return state
    if isinstance(event, PlanProposed):
        state = replace(state, plan="proposed")
    return replace(state, waiting=(*state.waiting, event))


@_fold.register
def _(event: Answered, state: AgentState) -> AgentState:
    return _without(state, event.request_id)


@_fold.register
def _(event: PlanAnswered, state: AgentState) -> AgentState:
    sent_back: PlanStanding = "sent_back" if event.by == "user" else "proposed"
    standing = sent_back if event.decision == "keep_planning" else "accepted"
    return _without(replace(state, plan=standing), event.request_id)


@_fold.register
def _(event: PermissionModeChanged, state: AgentState) -> AgentState:
    return replace(state, permission_mode=event.mode)


@_fold.register
def _(event: ApprovalResolved, state: AgentState) -> AgentState:
    state = _without(state, event.request_id)
    if event.decision == "deny":
        return replace(state, denials=(*state.denials, f"{event.tool}: {event.subject}")[-MAX_DENIALS:])
    if event.decision == "allow_always" and event.rule:
        return replace(state, saved_rules=(*state.saved_rules, event.rule))
    return state


def _without(state: AgentState, request_id: str) -> AgentState:
    return replace(state, waiting=tuple(item for item in state.waiting if item.request_id != request_id))


@_fold.register
def _(event: TitleChanged, state: AgentState) -> AgentState:
    if state.title_by_user and event.source != "user":
        return state
    return replace(state, title=event.title, title_by_user=event.source == "user")


@_fold.register
def _(event: RecapReady, state: AgentState) -> AgentState:
    return replace(state, recap=event.text)


@_fold.register
def _(event: ContextMeasured, state: AgentState) -> AgentState:
    return replace(state, meter=replace(event, shares=(), largest=()))


@_fold.register
def _(event: CompactionStarted, state: AgentState) -> AgentState:
    return replace(state, compacting=True)


@_fold.register(CompactionEnded)
@_fold.register(CompactionFailed)
def _(event: CompactionEnded | CompactionFailed, state: AgentState) -> AgentState:
    return replace(state, compacting=False)


@_fold.register
def _(event: ItemPinned, state: AgentState) -> AgentState:
    others = tuple(pin for pin in state.pins if pin.target != event.target)
    return replace(state, pins=(*others, event) if event.pinned else others)


@_fold.register
def _(event: ShellStarted, state: AgentState) -> AgentState:
    return replace(state, typed=(*state.typed, event))


@_fold.register
def _(event: ShellEnded, state: AgentState) -> AgentState:
    others = tuple(item for item in state.typed if item.request_id != event.request_id)
    return replace(state, typed=others, commands=state.commands + 1)


@_fold.register(TaskStarted | AgentStarted | TaskChanged | AgentChanged | TaskEnded | AgentEnded)
def _(event: TaskStarted | AgentStarted | TaskChanged | AgentChanged | TaskEnded | AgentEnded, state: S) -> S:
    match event:
        case TaskStarted(task_id=task_id, kind=kind, title=title):
            row = TaskRow(task_id=task_id, kind=kind, title=title, owner=event.owner, output_file=event.output_file)
            return _with_task(state, row)
        case AgentStarted(child=child, task=title):
            return _with_task(state, TaskRow(task_id=TaskId(child), kind="agent", title=title))
        case TaskChanged(task_id=task_id, standing=standing, doing=doing):
            return _told_of(state, task_id, standing=standing, by=event.by, doing=doing)
        case AgentChanged(child=child, standing=standing, doing=doing):
            return _told_of(state, TaskId(child), standing=standing, doing=doing)
        case TaskEnded(task_id=task_id, standing=standing):
            return _told_of(state, task_id, standing=standing, by=event.by, exit_code=event.exit_code, doing="")
        case AgentEnded(child=child, standing=standing):
            ended = _told_of(state, TaskId(child), standing=standing, by=event.by, doing="")
            return replace(ended, children=state.children + event.tally)


def _with_task(state: S, row: TaskRow) -> S:
    """The state with one more task; of those that have ended only the newest stay."""
    rows = [*(known for known in state.tasks if known.task_id != row.task_id), row]
    ended = [known for known in rows if not known.standing.open]
    dropped = {known.task_id for known in ended[: max(0, len(ended) - MAX_ENDED_TASKS)]}
    return replace(state, tasks=tuple(known for known in rows if known.task_id not in dropped))


def _told_of(state: S, task_id: TaskId, **news: Any) -> S:
    return replace(state, tasks=tuple(replace(row, **news) if row.task_id == task_id else row for row in state.tasks))
