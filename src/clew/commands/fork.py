"""/fork: reserved for an agent that works from a copy of the conversation; until then it names /branch."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult

ABOUT = CommandHelp(
    name="fork",
    usage="/fork DIRECTIVE",
    summary="Not built yet: it will let an agent work beside this session. /branch goes on in a copy.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Nothing is done."""
    return CommandResult(
        lines=("/fork is not built yet, and nothing was done. /branch goes on in a copy of this session.",),
        is_error=True,
    )


COMMAND = Command(help=ABOUT, run=run)
