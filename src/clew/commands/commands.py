"""/commands: which commands the user brought, whose they are, and what is wrong with those that are not used."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import ListInvocables

ABOUT = CommandHelp(
    name="commands",
    usage="/commands",
    summary="List your own commands and servers' prompts with where they come from; /help lists clew's.",
    details=(
        "A command is a Markdown file in .clew/commands or .claude/commands, of a trusted project or of your home.",
        "A file in a folder has a name like git:fix.",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list."""
    if argument.strip() not in ("", "list"):
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    return CommandResult(lookups=(ListInvocables(kinds=("command", "prompt")),))


COMMAND = Command(help=ABOUT, run=run)
