"""/quit: end the session, and say first what would end with it."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, SessionFacts, usage_error
from clew.protocol.ops import Leave
from clew.text.figures import count

ABOUT = CommandHelp(
    name="quit",
    usage="/quit [now|leave]",
    summary="End the session; clew -c continues it.",
    details=(
        "What still runs is named first; /quit once more, or /quit now, ends it too.",
        "/quit leave: leave it running for others who are attached to it (clew attach).",
    ),
    aliases=("exit", "q"),
)
MAX_COMMAND_CHARS = 60
KINDS = {"shell": "background command"}


def would_end(facts: SessionFacts) -> Iterator[str]:
    """What a front end that leaves now cuts off, one line each."""
    state = facts.state
    if facts.attached:
        return
    for guest in facts.guests:
        yield f"the session for {guest}, who is attached"
    if state.working:
        yield "the running turn" + (f" ({count(len(state.asks), 'question')} open)" if state.asks else "")
    if any(not item.held for item in state.queued):
        yield f"{count(len(state.queued), 'prompt')} not sent yet (queued again when you come back)"
    for typed in state.typed:
        yield f"your command: {_short(typed.command)}"
    for task in state.all_tasks:
        if task.standing.open:
            yield f"{KINDS.get(task.kind, task.kind)} {task.task_id}: {_short(task.title)}"


def _short(command: str) -> str:
    words = " ".join(command.split())
    return words if len(words) <= MAX_COMMAND_CHARS else words[: MAX_COMMAND_CHARS - 1] + "…"


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask the front end to close, or to ask once more."""
    wanted = argument.strip().lower()
    if wanted not in ("", "now", "leave"):
        return usage_error(ABOUT, f"Not understood: {wanted}")
    if wanted == "leave" and not (context.facts.guests or context.facts.attached):
        alone = "Nobody else is at this session, so leaving it would end it: /quit does."
        return CommandResult(lines=(alone,), is_error=True)
    if wanted == "leave":
        return CommandResult(ops=(Leave(),))
    ends = tuple(would_end(context.facts))
    if not ends or wanted == "now" or context.again:
        return CommandResult(leave=True)
    stay = " /quit leave leaves it running for those who are attached." if context.facts.guests else ""
    last = f"/quit once more closes it.{stay} The session is kept."
    lines = ("Leaving now would end:", *(f"  {line}" for line in ends), last)
    return CommandResult(lines=lines, ends=ends)


COMMAND = Command(help=ABOUT, run=run)
