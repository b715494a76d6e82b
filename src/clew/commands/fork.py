"""/fork: an agent that begins with this conversation carries out a directive in the background."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import ForkAgent

ABOUT = CommandHelp(
    name="fork",
    usage="/fork DIRECTIVE",
    summary="Let an agent that knows this conversation carry out a directive in the background.",
    details=(
        "It begins with the same bytes as this conversation, so a provider's cache serves both. You and the model are "
        "told when it is done. To go on in a copy of the session yourself: /branch.",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """What starts is told by the agent itself."""
    if not argument.strip():
        return usage_error(ABOUT, "/fork needs a directive.")
    return CommandResult(ops=(ForkAgent(directive=argument.strip()),))


COMMAND = Command(help=ABOUT, run=run)
