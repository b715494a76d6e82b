"""/version: the version number."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error

ABOUT = CommandHelp(name="version", usage="/version", summary="The version of clew.")


def run(context: CommandContext, argument: str) -> CommandResult:
    """Print it."""
    if argument.strip():
        return usage_error(ABOUT, "/version takes no argument.")
    return CommandResult(lines=(f"clew {context.facts.version or '(version not reported)'}",))


COMMAND = Command(help=ABOUT, run=run)
