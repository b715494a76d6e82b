"""/reopen: go on with a turn that was cut off before this process began."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import ContinueTurn

ABOUT = CommandHelp(
    name="reopen",
    usage="/reopen",
    summary="Go on with the turn that was cut off when the session last ended.",
    details=("A question that was open then is asked again first. Calls that were cut off are not repeated by clew.",),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The turn goes on, or a line says that there is none."""
    if argument.strip():
        return usage_error(ABOUT, "/reopen takes no argument; words are sent without it.")
    return CommandResult(ops=(ContinueTurn(),))


COMMAND = Command(help=ABOUT, run=run)
