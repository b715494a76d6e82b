"""/quit: end the session."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error

ABOUT = CommandHelp(
    name="quit",
    usage="/quit",
    summary="End the session; clew -c continues it.",
    aliases=("exit", "q"),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask the front end to close."""
    if argument.strip():
        return usage_error(ABOUT, "/quit takes no argument.")
    return CommandResult(leave=True)


COMMAND = Command(help=ABOUT, run=run)
