"""What is known of a session and its agents from their events: one pure fold, for the host and for every front end.

`after` takes the envelope, because an event means something only with its agent: the end of one agent's turn closes no
ask of another agent.
"""

from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.base import Envelope, EventBase, union_of
from clew.protocol.display import DiffBlock, FileChange, TerminalBlock, TodoBlock, TodoItem, with_change
from clew.protocol.event_kinds.agents import (
    AgentEnded,
    TaskNews,
    TaskRow,
    TeamChanged,
    TeamRow,
    WorkChanged,
    books_after,
    still_owed,
    tasks_after,
)
from clew.protocol.event_kinds.asks import Answered, ApprovalResolved, Ask, PlanAnswered, PlanProposed, PlanStanding
from clew.protocol.event_kinds.context import (
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    ContextMeasured,
    ItemPinned,
    Rewound,
)
from clew.protocol.event_kinds.turns import (
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    ShellEnded,
    ShellStarted,
    StepStarted,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.event_kinds.words import PermissionModeChanged, RecapReady, TitleChanged, WorktreeChanged
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.messages import text_of
from clew.protocol.standing import STOPPED_BY, Actor, Standing, standing_after, standing_of
from clew.protocol.tally import Tally

if TYPE_CHECKING:
    AnyAsk = Ask
else:
    AnyAsk = union_of(Ask)

S = TypeVar("S", bound="AgentState")
MAX_DENIALS = 100
MAX_PROMPT_CHARS = 500


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
    """The list of work."""
    team: TeamRow | None = None
    recap: str = ""
    pins: tuple[ItemPinned, ...] = ()
    """What crosses every compaction, oldest first."""
    permission_mode: str = ""
    """The one that was chosen last; empty: none was, since the session began."""
    worktree: WorktreeChanged | None = None
    """The checkout of its own that the conversation works in; None: it works in the project's."""
    plan: PlanStanding = ""
    """What became of the last plan."""
    last_prompt: str = ""
    """What the user said last, clipped."""
    last_reason: str = ""
    """How the last turn ended."""
    rests: Standing | None = None
    """How it stands when nothing is open, where `last_reason` alone does not tell: a provider's limit, a process that
    died. Not among the figures: whoever opens the log again learns it there."""
    ended_by: Actor | Literal[""] = ""
    """Who ended the last turn, where its reason alone does not tell."""
    working: bool = False
    compacting: bool = False
    """The view is being made smaller, between turns or within one."""
    waiting: tuple[AnyAsk, ...] = ()
    """What a person must answer, oldest first."""
    queued: tuple[PromptQueued, ...] = ()
    """Input that has not joined yet; what an earlier process left is `held`."""
    typed: tuple[ShellStarted, ...] = ()
    """Commands the user typed that still run."""
    tasks: tuple[TaskRow, ...] = ()
    """Work beside its turns, and its child agents: what is open, and the newest that ended; oldest first."""
    children: Tally = Tally()
    """What its children used that have ended."""
    owed: tuple[AgentEnded, ...] = ()
    """Ends of background children that its conversation does not tell of yet."""
    meter: ContextMeasured | None = None
    """How full the window was when it was last measured."""

    @property
    def standing(self) -> Standing:
        """How the agent stands now."""
        return self.stands(compacting=self.compacting)

    def stands(self, *, compacting: bool) -> Standing:
        """The same with or without the work of making the view smaller, which is done between turns, too."""
        asked = self.waiting[0].standing if self.waiting else None
        at_work = self.working or compacting or any(not item.held for item in self.queued)
        return standing_of(asked=asked, at_work=at_work, rest=self.rests or standing_after(self.last_reason))

    @property
    def stopped_by(self) -> Actor | Literal[""]:
        """Who stopped the agent; empty unless it stands stopped."""
        return (self.ended_by or STOPPED_BY.get(self.last_reason, "user")) if self.standing is Standing.STOPPED else ""

    @property
    def interruptible(self) -> bool:
        """Something runs that an interrupt ends: a turn, a command that the user typed, the view made smaller."""
        return self.working or self.compacting or bool(self.typed)

    def figures(self) -> "AgentState":
        """Without what holds only while a process runs: this part is kept in the log."""
        tasks = tuple(row for row in self.tasks if row.open or row.kind == "agent")
        rest = replace(self, working=False, compacting=False, rests=None, ended_by="", tasks=tasks)
        queued = tuple(item for item in self.queued if item.kept)
        return replace(rest, waiting=(), queued=queued, typed=(), meter=None)

    def left_behind(self, rests: Standing = Standing.IDLE, by: Actor | Literal[""] = "") -> "AgentState":
        """The figures of an agent whose process is gone: what was open then was interrupted. `rests`, `by`: how its log
        says that it stands, and who brought it there."""
        kept = self.figures()
        tasks = tuple(row.left_behind if row.open else row for row in kept.tasks)
        queued = tuple(replace(item, held=True) for item in kept.queued)
        told = rests is standing_after(self.last_reason)
        return replace(kept, tasks=tasks, queued=queued, rests=None if told else rests, ended_by=by)


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
        children = any(row.kind == "agent" and row.open for row in self.tasks)
        return self._of_all(self.standing, at_work=children or any(one.standing.open for one in self.agents.values()))

    @property
    def standing_in_turns(self) -> Standing:
        """The same for those who count only turns, and input that waits for one, as work."""
        at_work = any(one.stands(compacting=False).open for one in self.agents.values())
        return self._of_all(self.stands(compacting=False), at_work=at_work)

    def _of_all(self, main: Standing, *, at_work: bool) -> Standing:
        return standing_of(asked=self.asks[0].ask.standing if self.asks else None, at_work=at_work, rest=main)


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
    return replace(state, working=True, rests=None, ended_by="")


@_fold.register
def _(event: StepStarted, state: AgentState) -> AgentState:
    return replace(state, steps=state.steps + 1)


@_fold.register
def _(event: PromptQueued, state: AgentState) -> AgentState:
    if any(item.kept and item.prompt_id == event.prompt_id for item in state.queued):
        queued = tuple(event if item.prompt_id == event.prompt_id else item for item in state.queued)
        return replace(state, queued=queued)
    return replace(state, queued=(*state.queued, event))


@_fold.register
def _(event: PromptWithdrawn, state: AgentState) -> AgentState:
    return replace(state, queued=tuple(item for item in state.queued if item.prompt_id != event.prompt_id))


@_fold.register
def _(event: PromptAccepted, state: AgentState) -> AgentState:
    queued = tuple(item for item in state.queued if item.prompt_id != event.prompt_id)
    last = state.last_prompt if event.hidden else text_of(event.content)[:MAX_PROMPT_CHARS]
    return replace(state, queued=queued, last_prompt=last, owed=still_owed(state.owed, event.notices))


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
        failed_calls=state.failed_calls + (event.result.is_error and not (event.refused or event.stopped)),
        commands=state.commands + ran,
    )


@_fold.register
def _(event: TurnEnded, state: AgentState) -> AgentState:
    rests = standing_after(event.reason, event.error)
    return replace(
        state,
        working=False,
        compacting=False,
        turns=state.turns + 1,
        waiting=(),
        last_reason=event.reason,
        rests=None if rests is standing_after(event.reason) else rests,
        ended_by=event.by,
    )


@_fold.register
def _(event: Rewound, state: AgentState) -> AgentState:
    """What was undone tells no more how the session rests."""
    told = standing_after(state.last_reason) is Standing.IDLE
    return replace(state, rests=None if told else Standing.IDLE, ended_by="")


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


@_fold.register(PermissionModeChanged | RecapReady | TeamChanged | WorkChanged)
def _(event: PermissionModeChanged | RecapReady | TeamChanged | WorkChanged, state: S) -> S:
    if isinstance(event, PermissionModeChanged | RecapReady):
        said = {"permission_mode": event.mode} if isinstance(event, PermissionModeChanged) else {"recap": event.text}
        return replace(state, **said)
    return replace(state, team=event.team) if isinstance(event, TeamChanged) else replace(state, todos=event.items)


@_fold.register
def _(event: WorktreeChanged, state: AgentState) -> AgentState:
    return replace(state, worktree=event if event.path else None)


@_fold.register(TaskNews)
def _(event: TaskNews, state: S) -> S:
    state = replace(state, tasks=tasks_after(event, state.tasks))
    return replace(state, **books_after(event, state.children, state.owed)) if isinstance(event, AgentEnded) else state
