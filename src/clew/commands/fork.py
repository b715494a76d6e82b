"""/fork: go on in a copy."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SwitchSession

ABOUT = CommandHelp(
    name="fork",
    usage="/fork",
    summary="Go on in a copy of this session; this one stays as it is.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is the start of the other session, or a line that says why not."""
    if argument.strip():
        return usage_error(ABOUT, "/fork takes no argument.")
    if not context.facts.kept or not context.facts.state.turns:
        return CommandResult(lines=("There is nothing to copy yet.",), is_error=True)
    return CommandResult(ops=(SwitchSession(resume=context.facts.session_id, fork=True),))


COMMAND = Command(help=ABOUT, run=run)
