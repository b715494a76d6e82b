"""/title: the name of the session."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SetTitle

ABOUT = CommandHelp(
    name="title",
    usage="/title [TEXT]",
    summary="Show the title, or give one, which stays.",
    aliases=("rename",),
)
MAX_CHARS = 200


def run(context: CommandContext, argument: str) -> CommandResult:
    """Show, or ask for a change; TitleChanged is the answer."""
    title = " ".join(argument.split())
    if not title:
        return CommandResult(
            lines=(f"Title: {context.facts.state.title}" if context.facts.state.title else "No title yet.",)
        )
    if len(title) > MAX_CHARS:
        return usage_error(ABOUT, f"A title has at most {MAX_CHARS} characters; this one has {len(title):,}.")
    return CommandResult(ops=(SetTitle(title=title),))


COMMAND = Command(help=ABOUT, run=run)
