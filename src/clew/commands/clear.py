"""/clear: an empty view; the log keeps everything."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import ClearContext

ABOUT = CommandHelp(
    name="clear",
    usage="/clear",
    summary="Go on with an empty window in the same session. Pins stay; /compact undo brings the rest back.",
    details=("  /new starts another session instead",),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event."""
    if argument.strip():
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    return CommandResult(ops=(ClearContext(),))


COMMAND = Command(help=ABOUT, run=run)
