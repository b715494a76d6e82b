"""/new: start anew."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SwitchSession

ABOUT = CommandHelp(
    name="new",
    usage="/new",
    summary="Start a new session; this one can be continued later.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is the start of the other session, or a line that says why not."""
    if argument.strip():
        return usage_error(ABOUT, "/new takes no argument.")
    return CommandResult(ops=(SwitchSession(),))


COMMAND = Command(help=ABOUT, run=run)
