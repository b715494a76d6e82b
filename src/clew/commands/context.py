"""/context: what fills the window."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import RequestContext

ABOUT = CommandHelp(
    name="context",
    usage="/context",
    summary="Show what fills the window: by kind, with the largest items, and what is free.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    if argument.strip():
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    return CommandResult(lookups=(RequestContext(),))


COMMAND = Command(help=ABOUT, run=run)
