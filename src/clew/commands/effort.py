"""/effort: how much thinking is asked for."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error, usage_lines
from clew.protocol.events import EffortChanged
from clew.protocol.ops import SetEffort

LEVELS = ("low", "medium", "high", "xhigh", "max")
AUTO = "auto"
NONE_SET = (AUTO, "unset")
SHOWN = ("", "current", "status")
ABOUT = CommandHelp(
    name="effort",
    usage=f"/effort [{' | '.join((*LEVELS, *NONE_SET, *SHOWN[1:]))} | help]",
    summary="Show how much thinking is asked for, or ask for more or less, here and from now on.",
    details=(
        "  auto, unset: the model's own default; nothing is kept.",
        "  current, status: what is in force.",
        "It takes effect with the next request and is kept in your settings. A model that has fewer levels takes the",
        "nearest one below. CLEW_EFFORT in the environment counts more than what is kept.",
    ),
)


def named(effort: str) -> str:
    """An effort as people type it."""
    return effort or f"{AUTO} (the model's own default)"


def changed_line(event: EffortChanged) -> str:
    """What EffortChanged says: what is in force, what is kept and where, and what else should be known."""
    kept = ""
    if event.saved_in and event.saved == event.effort:
        kept = f" ({'saved in' if event.saved else 'no longer set in'} {event.saved_in})"
    elif event.saved_in:
        kept = f"; {named(event.saved)} is saved in {event.saved_in}"
    return f"Effort: {named(event.effort)}{kept}" + (f"; {event.note}" if event.note else "")


def run(context: CommandContext, argument: str) -> CommandResult:
    """Show it, or ask for another; EffortChanged is the answer."""
    wanted = argument.strip().lower()
    if wanted in SHOWN:
        levels = ", ".join((*LEVELS, AUTO))
        return CommandResult(lines=(f"Effort: {named(context.facts.effort)}. Levels: {levels}.",))
    if wanted == "help":
        return CommandResult(lines=usage_lines(ABOUT))
    if wanted not in (*LEVELS, *NONE_SET):
        return usage_error(ABOUT, f"There is no effort {wanted}.")
    return CommandResult(ops=(SetEffort(effort="" if wanted in NONE_SET else wanted, keep=True),))


COMMAND = Command(help=ABOUT, run=run)
