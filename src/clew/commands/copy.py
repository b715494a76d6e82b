"""/copy: an answer to the clipboard."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.text.figures import count

ABOUT = CommandHelp(
    name="copy",
    usage="/copy [N]",
    summary="Copy the last answer to the clipboard; N: the one N answers back, 1 being the last.",
    details=("The terminal does it (OSC 52); one that does not know that ignores it.",),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The front end carries it out."""
    wanted = argument.strip() or "1"
    answers = context.facts.answers
    if not wanted.isdecimal() or int(wanted) < 1:
        return usage_error(ABOUT, f"Which answer? {wanted} is no number from 1 up.")
    if not answers:
        return CommandResult(lines=("There is no answer to copy yet.",), is_error=True)
    if int(wanted) > len(answers):
        return CommandResult(lines=(f"Only {count(len(answers), 'answer')} can be copied here.",), is_error=True)
    text = answers[-int(wanted)]
    return CommandResult(lines=(f"To the clipboard: {count(len(text), 'character')}.",), copy=text)


COMMAND = Command(help=ABOUT, run=run)
