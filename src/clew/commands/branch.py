"""/branch: go on in a copy of the session."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SwitchSession

ABOUT = CommandHelp(
    name="branch",
    usage="/branch",
    summary="Go on in a copy of this session; this one stays as it is.",
    details=("The copy is listed at once, under this session's title with (Branch), (Branch 2) and so on.",),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is the start of the other session, or a line that says why not."""
    facts = context.facts
    if argument.strip():
        return usage_error(ABOUT, "/branch takes no argument.")
    if not facts.kept or not (facts.state.turns or facts.resumed):
        return CommandResult(lines=("There is nothing to copy yet.",), is_error=True)
    return CommandResult(ops=(SwitchSession(resume=facts.session_id, fork=True),))


COMMAND = Command(help=ABOUT, run=run)
