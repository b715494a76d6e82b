"""/skills: which skills there are, whose they are, and what is wrong with those that are not used."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.lookups.session import ListInvocables

ABOUT = CommandHelp(
    name="skills",
    usage="/skills",
    summary="List skills with where they come from; type /NAME to use one.",
    details=(
        "A skill is a folder with a SKILL.md: instructions that the model reads when they are needed.",
        "They lie in .clew/skills and .claude/skills of a trusted project, in your home, and in plugins.",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Ask for the list."""
    if argument.strip() not in ("", "list"):
        return usage_error(ABOUT, f"Not understood: {argument.strip()}")
    return CommandResult(lookups=(ListInvocables(kinds=("skill",)),))


COMMAND = Command(help=ABOUT, run=run)
