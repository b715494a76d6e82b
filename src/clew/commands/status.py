"""/status: what is in force here, and where things lie."""

from collections.abc import Iterator

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import RequestStatus, StatusShown

ABOUT = CommandHelp(
    name="status",
    usage="/status",
    summary="Session, model, mode, effort, directory, sandbox, window, and the files on disk.",
)


def status_lines(event: StatusShown) -> Iterator[str]:
    """What StatusShown says."""
    width = max((len(row.name) for row in event.rows), default=0)
    yield from (f"{row.name:<{width}}  {row.value}" for row in event.rows)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    if argument.strip():
        return usage_error(ABOUT, "/status takes no argument.")
    return CommandResult(lookups=(RequestStatus(),))


COMMAND = Command(help=ABOUT, run=run)
