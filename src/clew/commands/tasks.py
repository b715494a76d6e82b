"""/tasks: what runs beside the conversation: list, look, stop."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.events import Actor, TaskRow
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask, TaskShown
from clew.protocol.standing import Standing
from clew.text.figures import duration

ABOUT = CommandHelp(
    name="tasks",
    usage="/tasks [ID | stop ID]",
    summary="List the commands in the background, show what one printed, or stop one.",
    details=("Child agents at work are tasks too. In the full screen it is a dialog; Shift-Down opens it as well.",),
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
    if row.standing.open:
        return f"{words} for {duration(int(row.age_s * 1000))}" if row.standing is Standing.WORKING else words
    if row.exit_code is not None:
        return f"exited with code {row.exit_code}"
    by = ACTOR_WORDS.get(row.by, "") if row.by else ""
    return f"{words} {by}".strip()


def title_words(row: TaskRow) -> str:
    """What it is, in one line, and whose it is where that is not the main agent's."""
    whose = f" of agent {row.owner}" if row.owner != MAIN_AGENT else ""
    return f"{row.task_id}{whose}  {' '.join(row.title.split())}"


def listing(tasks: tuple[TaskRow, ...]) -> Iterator[str]:
    """What TasksListed says."""
    if not tasks:
        yield "Nothing runs or ran beside the conversation."
        return
    for row in tasks:
        yield f"{title_words(row)}  ({state_words(row)})"
        yield from (f"    {line}" for line in row.tail)
    yield "/tasks ID shows what one has put out; /tasks stop ID ends one."


def shown(event: TaskShown) -> Iterator[str]:
    """What TaskShown says."""
    yield f"{title_words(event.task)}  ({state_words(event.task)})"
    yield from event.output.rstrip("\n").splitlines() or [NO_OUTPUT if event.task.standing.open else NOTHING_HERE]
    if event.task.output_file:
        yield f"All of it: {event.task.output_file}"


def run(context: CommandContext, argument: str) -> CommandResult:
    """What is looked up."""
    match argument.split():
        case []:
            return CommandResult(lookups=(ListTasks(),))
        case ["stop" | "kill", task_id]:
            return CommandResult(lookups=(StopTask(task_id=task_id),))
        case ["stop" | "kill"]:
            return usage_error(ABOUT, "Which one? /tasks lists them.")
        case [task_id]:
            return CommandResult(lookups=(ShowTask(task_id=task_id),))
        case _:
            return usage_error(ABOUT, f"Not understood: {argument.strip()}")


COMMAND = Command(help=ABOUT, run=run)
