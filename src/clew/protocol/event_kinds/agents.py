"""Events about agents, tasks and the tools that came or went, and the rows of tasks that they add up to."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.base import DurableEvent, LiveEvent
from clew.protocol.display import TodoItem
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, TaskId
from clew.protocol.standing import Actor, Standing
from clew.protocol.tally import Tally

MAX_ENDED_TASKS = 20


class TaskRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task: work that runs beside the turns of its owner, and how it stands."""

    task_id: TaskId
    kind: str
    """`shell`: a command in the background. `agent`: a child agent; then the id is its agent's. `worktree`: a checkout
    that was left, in answers only."""
    title: str
    owner: AgentId = MAIN_AGENT
    standing: Standing = Standing.WORKING
    by: Actor | Literal[""] = ""
    """Who brought it to stand so; empty: it has not changed since it began."""
    exit_code: int | None = None
    doing: str = ""
    until: str = ""
    """When a suspended agent goes on by itself, as ISO 8601; empty: it does not."""
    background: bool = False
    """Of an agent: nobody waits for it."""
    since: str = ""
    """Of an agent: when its run began, as ISO 8601; empty: not told."""
    name: str = ""
    agent_kind: str = ""
    team: str = ""
    """It is a member of this team."""
    tokens: int = 0
    cost_usd: float = 0.0
    """What a run of an agent used: in answers so far, else once it has ended."""
    age_s: float = 0.0
    """Since it was started; only in answers."""
    tail: tuple[str, ...] = ()
    """Its last lines, without secrets; only in answers."""
    output_file: str = ""
    """Where all of its output is; empty: nowhere."""

    @property
    def open(self) -> bool:
        """It goes on by itself or with an answer."""
        return self.standing.open or bool(self.until)

    @property
    def left_behind(self) -> "TaskRow":
        """Of one that was open when its process ended."""
        return replace(self, standing=Standing.INTERRUPTED, until="", by="")

    @property
    def lost(self) -> bool:
        """It was left behind by an earlier process, and its end is not in the log yet."""
        return self.standing is Standing.INTERRUPTED and not self.by


class AgentFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What code read in a child's log about one run of it: the half of a report that nobody has to believe."""

    files: tuple[str, ...] = ()
    """Files that it created, changed or deleted, with the count of lines: `a.py +3 -1`."""
    commands: int = 0
    failed: tuple[str, ...] = ()
    """Commands that ended with another code than 0, with it: `exit 2: make`."""
    tests: str = ""
    """How the last test run ended; empty: none ran."""
    commits: tuple[str, ...] = ()
    """Commits, pushes and pull requests."""
    denied: tuple[str, ...] = ()
    """What it asked for and did not get."""
    left_running: tuple[str, ...] = ()
    """Commands that still ran when it ended; they were ended with it."""
    against: tuple[str, ...] = ()
    """What it says and its log speaks against, by kind of fact."""


class AgentStarted(DurableEvent, frozen=True, kw_only=True, tag="agent.started"):
    """A run of a child agent began; told by its parent. The child has a transcript of its own."""

    child: AgentId
    kind: str
    task: str
    background: bool = False
    call_id: CallId | None = None
    """The call that started it."""
    name: str = ""
    """By which messages find it besides its id; unique in the session."""
    resumed: bool = False
    """It had ended before and goes on from its log."""
    queued: bool = False
    """As many work as may at once: it begins when one of them has ended."""
    team: str = ""
    """It is a member of this team; its end means that it is idle."""
    since: str = ""
    """When, as ISO 8601: whoever joins later counts from it; empty in logs of before."""


class AgentChanged(DurableEvent, frozen=True, kw_only=True, tag="agent.changed"):
    """How a child agent stands now; told by its parent. In the log, so that lists know of a child that waits."""

    child: AgentId
    standing: Standing
    doing: str = ""
    background: bool = False
    """From here on nobody waits for it: its parent is told of its end by a notice."""
    until: str = ""
    """A provider's limit suspends it; it goes on then, ISO 8601."""


class AgentEnded(DurableEvent, frozen=True, kw_only=True, tag="agent.ended"):
    """A run of a child agent is over; told by its parent. One per AgentStarted: where the process died before, whoever
    opens the log again writes it."""

    child: AgentId
    standing: Standing
    by: Actor = "itself"
    reason: str = ""
    """How its last turn ended (`TurnEndReason`)."""
    error: str = ""
    """Why it failed, in words."""
    result: str = ""
    """Its last words; of many the first and the last paragraph."""
    tally: Tally = Tally()
    """What this run used, its own children included."""
    task: str = ""
    name: str = ""
    kind: str = ""
    call_id: CallId | None = None
    background: bool = False
    """Nobody waited for it: a notice is owed until a prompt names it in its `notices`."""
    facts: AgentFacts = AgentFacts()
    output_file: str = ""
    """Its transcript."""
    worktree: str = ""
    """Where its changes are, when it had a checkout of its own and that stays."""
    work_ref: str = ""
    """The ref of the repository that all of them are saved in; empty: there are none, or they could not be saved."""
    carried: str = ""
    """The commit that its changes begin after, where it began with what was uncommitted in its parent's checkout."""
    unheld: bool = False
    """It had a checkout of its own, and no sandbox kept its commands in it."""
    team: str = ""
    """It is a member of this team, and idle now."""


class MemberRow(Struct, frozen=True, kw_only=True):
    """One member of a team, as people see it."""

    name: str
    kind: str = ""
    model: str = ""
    color: str = ""
    backend: str = "in-process"
    """`in-process`: an agent of the lead's session. `pane`: a session of its own in a tmux pane."""
    mode: str = ""
    standing: Standing = Standing.IDLE
    agent: AgentId = AgentId("")
    session: str = ""
    pane: str = ""
    leaving: bool = False
    """It was asked to stop, and has not answered."""


class TeamRow(Struct, frozen=True, kw_only=True):
    """A team, as people see it."""

    name: str
    description: str = ""
    own: str = "lead"
    """Who this session is in it."""
    members: tuple[MemberRow, ...] = ()


class TeamChanged(DurableEvent, frozen=True, kw_only=True, tag="team.changed"):
    """The team of the session as it is now; None: it has none any more."""

    team: TeamRow | None = None


class WorkChanged(DurableEvent, frozen=True, kw_only=True, tag="work.changed"):
    """The list of work as it is now, whoever changed it."""

    items: tuple[TodoItem, ...] = ()
    by: str = ""
    """Who changed it last."""
    done: str = ""
    """What was done to it, in words: `completed #3 Build`."""


class TaskStarted(DurableEvent, frozen=True, kw_only=True, tag="task.started"):
    """Work beside the conversation began (a background command). Told by the main agent, whoever owns it."""

    task_id: TaskId
    kind: str
    title: str
    owner: AgentId = MAIN_AGENT
    output_file: str = ""


class TaskChanged(LiveEvent, frozen=True, kw_only=True, tag="task.changed"):
    """How it stands now."""

    task_id: TaskId
    standing: Standing
    by: Actor = "itself"
    doing: str = ""


class TaskEnded(DurableEvent, frozen=True, kw_only=True, tag="task.ended"):
    """It is over. One per TaskStarted; none, where the process died before: then it counts as interrupted."""

    task_id: TaskId
    standing: Standing
    by: Actor = "itself"
    exit_code: int | None = None


class ToolsChanged(LiveEvent, frozen=True, kw_only=True, tag="tools.changed"):
    """Tools came or went; what the model is told at the start of each request stays as it was."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


TaskNews = TaskStarted | AgentStarted | TaskChanged | AgentChanged | TaskEnded | AgentEnded


def tasks_after(event: TaskNews, tasks: tuple[TaskRow, ...]) -> tuple[TaskRow, ...]:
    """The rows of all tasks and child agents after this event."""
    match event:
        case TaskStarted(task_id=task_id, kind=kind, title=title):
            row = TaskRow(task_id=task_id, kind=kind, title=title, owner=event.owner, output_file=event.output_file)
            return _with_task(tasks, row)
        case AgentStarted(child=child, task=title):
            row = TaskRow(
                task_id=TaskId(child),
                kind="agent",
                title=title,
                standing=Standing.STARTING if event.queued else Standing.WORKING,
                background=event.background,
                since=event.since,
                name=event.name,
                agent_kind=event.kind,
                team=event.team,
            )
            return _with_task(tasks, row)
        case TaskChanged(task_id=task_id, standing=standing, doing=doing):
            return _told_of(tasks, task_id, standing=standing, by=event.by, doing=doing)
        case AgentChanged(child=child, standing=standing, doing=doing):
            beside = {"background": True} if event.background else {}
            return _told_of(tasks, TaskId(child), standing=standing, doing=doing, until=event.until, **beside)
        case TaskEnded(task_id=task_id, standing=standing):
            return _told_of(tasks, task_id, standing=standing, by=event.by, exit_code=event.exit_code, doing="")
        case AgentEnded(child=child, standing=standing):
            used = {"tokens": event.tally.tokens, "cost_usd": event.tally.cost_usd}
            return _told_of(tasks, TaskId(child), standing=standing, by=event.by, doing="", until="", **used)


def books_after(ended: AgentEnded, children: Tally, owed: tuple[AgentEnded, ...]) -> dict[str, Any]:
    """What an agent's children used, and the ends that it is to be told of, after one more end."""
    return {"children": children + ended.tally, "owed": (*owed, ended) if ended.background else owed}


def still_owed(owed: tuple[AgentEnded, ...], told: tuple[TaskId, ...]) -> tuple[AgentEnded, ...]:
    """Without the oldest end of each task that was told of; one that ended twice is told of twice."""
    rest = list(owed)
    for task in told:
        found = next((end for end in rest if end.child == task), None)
        if found is not None:
            rest.remove(found)
    return owed if not told else tuple(rest)


def _with_task(tasks: tuple[TaskRow, ...], row: TaskRow) -> tuple[TaskRow, ...]:
    """One row more; of those that have ended only the newest stay."""
    rows = [*(known for known in tasks if known.task_id != row.task_id), row]
    ended = [known for known in rows if not known.open]
    dropped = {known.task_id for known in ended[: max(0, len(ended) - MAX_ENDED_TASKS)]}
    return tuple(known for known in rows if known.task_id not in dropped)


def _told_of(tasks: tuple[TaskRow, ...], task_id: TaskId, **news: Any) -> tuple[TaskRow, ...]:
    return tuple(replace(row, **news) if row.task_id == task_id else row for row in tasks)
