"""/tasks: what runs beside the conversation: list, look, stop."""

from collections.abc import Iterator, Sequence

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.events import Actor, TaskRow
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookups.tasks import (
    CleanWorktrees,
    ClearTasks,
    ListTasks,
    ShowTask,
    StopTask,
    TaskShown,
    TasksListed,
)
from clew.protocol.ops import MessageAgent, SendToBackground
from clew.protocol.standing import Standing
from clew.text.figures import duration, money

ABOUT = CommandHelp(
    name="tasks",
    usage="/tasks [ID | stop ID | background [ID] | tell ID WORDS | clear | clean ID]",
    summary="List commands and agents beside the conversation; show, stop, move or talk to one.",
    details=(
        "Child agents at work are tasks too. In the full screen it is a dialog; Shift-Down opens it as well.",
        "Checkouts that were left are listed, too: /tasks clean ID, or clean all, saves what one holds and removes it.",
    ),
    aliases=("bashes",),
)
STANDING_WORDS = {
    Standing.STARTING: "starting",
    Standing.WORKING: "running",
    Standing.WAITING: "waits for an approval",
    Standing.ASKING: "asks you something",
    Standing.SUSPENDED: "stopped by a limit",
    Standing.IDLE: "idle",
    Standing.COMPLETED: "completed",
    Standing.FAILED: "failed",
    Standing.STOPPED: "stopped",
    Standing.INTERRUPTED: "interrupted: its process ended",
}
NO_OUTPUT = "(no output yet)"
NOTHING_HERE = "(no output is held here)"
ACTOR_WORDS: dict[Actor, str] = {"user": "by you", "agent": "by the agent", "session": "with the session"}


def state_words(row: TaskRow) -> str:
    """running for 2 min, exited with code 1, stopped by you."""
    words = STANDING_WORDS[row.standing]
    if row.kind == "worktree":
        return "checkout that was left"
    if row.standing.open:
        return f"{words} for {duration(int(row.age_s * 1000))}" if row.standing is Standing.WORKING else words
    if row.exit_code is not None:
        return f"exited with code {row.exit_code}"
    by = ACTOR_WORDS.get(row.by, "") if row.by else ""
    return f"{words} {by}".strip()


def figure_words(row: TaskRow) -> str:
    """What an agent is and what it used so far; empty for a command."""
    if row.kind != "agent":
        return ""
    name = f"named {row.name}" if row.name else ""
    tokens = f"{row.tokens:,} tokens" if row.tokens else ""
    spent = money(row.cost_usd) if row.cost_usd else ""
    beside = "in the background" if row.background and row.standing.open else ""
    return " · ".join(filter(None, (f"agent {row.agent_kind}".strip(), name, tokens, spent, beside)))


def as_tree(tasks: Sequence[TaskRow]) -> list[tuple[int, TaskRow]]:
    """The rows with their depth: what an agent started stands under it. What runs comes first, then the newest that
    ended; one whose owner is not among them stands where those of the main agent do."""
    known = {row.task_id for row in tasks if row.kind == "agent"}
    below: dict[str, list[TaskRow]] = {}
    for row in tasks:
        owner = row.owner if row.owner in known and row.owner != row.task_id else MAIN_AGENT
        below.setdefault(owner, []).append(row)
    found: list[tuple[int, TaskRow]] = []

    def put(owner: str, depth: int) -> None:
        rows = below.pop(owner, [])
        ordered = [row for row in rows if row.standing.open] + [row for row in reversed(rows) if not row.standing.open]
        for row in ordered:
            found.append((depth, row))
            if row.kind == "agent":
                put(row.task_id, depth + 1)

    put(MAIN_AGENT, 0)
    for owner in list(below):  # agents that name each other as their owners
        put(owner, 0)
    return found


def title_words(row: TaskRow, *, whose: bool = True) -> str:
    """What it is, in one line, and whose it is where that is not the main agent's and nothing else tells it."""
    of = f" of agent {row.owner}" if whose and row.owner != MAIN_AGENT else ""
    return f"{row.task_id}{of}  {' '.join(row.title.split())}"


def listing(tasks: tuple[TaskRow, ...]) -> Iterator[str]:
    """What TasksListed says."""
    if not tasks:
        yield "Nothing runs or ran beside the conversation."
        return
    for depth, row in as_tree(tasks):
        told = ", ".join(filter(None, (state_words(row), figure_words(row).replace(" · ", ", "))))
        yield f"{'  ' * depth}{title_words(row, whose=not depth)}  ({told})"
        yield from (f"{'  ' * depth}    {line}" for line in row.tail)
    yield "/tasks ID shows what one has put out; /tasks stop ID ends one; /tasks background [ID] lets nobody wait;"
    yield "/tasks tell ID WORDS talks to an agent; /tasks clear leaves out what has ended."
    if any(row.kind == "worktree" for row in tasks):
        yield "/tasks clean ID, or clean all, saves what a checkout holds in its repository and removes it."


def shown(event: TaskShown) -> Iterator[str]:
    """What TaskShown says."""
    yield f"{title_words(event.task)}  ({state_words(event.task)})"
    yield from event.output.rstrip("\n").splitlines() or [NO_OUTPUT if event.task.standing.open else NOTHING_HERE]
    if event.task.output_file:
        yield f"All of it: {event.task.output_file}"


def told(event: TasksListed | TaskShown) -> Iterator[str]:
    """The answer to a question about tasks, in lines."""
    return shown(event) if isinstance(event, TaskShown) else listing(event.tasks)


def run(context: CommandContext, argument: str) -> CommandResult:
    """What is looked up."""
    match argument.split():
        case []:
            return CommandResult(lookups=(ListTasks(worktrees=True),))
        case ["clean", name]:
            return CommandResult(lookups=(CleanWorktrees(name=name),))
        case ["stop" | "kill", task_id]:
            return CommandResult(lookups=(StopTask(task_id=task_id),))
        case ["background", task_id]:
            return CommandResult(ops=(SendToBackground(task_id=task_id),))
        case ["background"]:
            return CommandResult(ops=(SendToBackground(),))
        case ["tell", agent, _, *_]:
            words = argument.split(None, 2)[2].strip()
            return CommandResult(lines=(f"Telling {agent} …",), ops=(MessageAgent(to=agent, text=words),))
        case ["clear"]:
            return CommandResult(lookups=(ClearTasks(),))
        case ["stop" | "kill" | "tell" | "clean"]:
            return usage_error(ABOUT, "Which one? /tasks lists them.")
        case [task_id]:
            return CommandResult(lookups=(ShowTask(task_id=task_id),))
        case _:
            return usage_error(ABOUT, f"Not understood: {argument.strip()}")


COMMAND = Command(help=ABOUT, run=run)
