"""/copy: an answer to the clipboard."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.system.clipboard import Copy
from clew.text.figures import count

ABOUT = CommandHelp(
    name="copy",
    usage="/copy [N]",
    summary="Copy the last answer to the clipboard; N: the one N answers back, 1 being the last.",
    details=("By the desktop's program, tmux or the terminal (OSC 52), whichever takes it here; /doctor tells which.",),
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
    return CommandResult(copy=answers[-int(wanted)])


def copied_line(done: Copy, text: str) -> str:
    """What came of a copy, in one line."""
    some = count(text.count("\n") + 1, "line")
    if done.way:
        return f"copied {some} ({done.way})"
    if done.sent:
        return f"sent {some} to the terminal, which does not say whether it took them"
    return f"no clipboard here: {some} in {done.file}" if done.file else "not copied: no clipboard here"


def lost_lines(done: Copy) -> tuple[str, ...]:
    """Where else the text is and what to set, where it is not known to have arrived or could go further."""
    lines = [f"What you copied is in {done.file} too."] if done.file else []
    if done.advice:
        where = "In the terminal's own clipboard" if done.way else "A copy that surely arrives"
        lines.append(f"{where}: {done.advice}")
    return tuple(lines)


COMMAND = Command(help=ABOUT, run=run)
