"""/resume: go on with another session."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SwitchSession

ABOUT = CommandHelp(
    name="resume",
    usage="/resume ID|TITLE|WORDS|FILE",
    summary="Go on with another session; this one is closed first.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is the start of the other session, or a line that says why not."""
    wanted = argument.strip()
    if not wanted:
        return usage_error(ABOUT, "Which one? /sessions lists them.")
    return CommandResult(ops=(SwitchSession(resume=wanted),))


COMMAND = Command(help=ABOUT, run=run)
