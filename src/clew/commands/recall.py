"""/recall: what left the view comes back, word for word."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import Recall

ABOUT = CommandHelp(
    name="recall",
    usage="/recall WORDS | ENTRY",
    summary="Bring something that compaction took from the window back into it, word for word.",
    details=("  ENTRY  an id from /compact receipt, or its start",),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    query = argument.strip()
    return CommandResult(ops=(Recall(query=query),)) if query else usage_error(ABOUT, "Recall what?")


COMMAND = Command(help=ABOUT, run=run)
