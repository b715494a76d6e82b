"""/effort: how much thinking is asked for."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import SetEffort

LEVELS = ("low", "medium", "high", "xhigh", "max")
AUTO = "auto"
ABOUT = CommandHelp(
    name="effort",
    usage=f"/effort [{' | '.join((*LEVELS, AUTO))}]",
    summary="Show how much thinking is asked for, or ask for more or less.",
    details=(
        "  auto: the model's own default.",
        "It takes effect with the next request. A model that has fewer levels takes the nearest one below.",
    ),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Show it, or ask for another; EffortChanged is the answer."""
    wanted = argument.strip().lower()
    current = context.facts.effort or AUTO
    if not wanted:
        return CommandResult(lines=(f"Effort: {current}. Levels: {', '.join((*LEVELS, AUTO))}.",))
    if wanted not in (*LEVELS, AUTO):
        return usage_error(ABOUT, f"There is no effort {wanted}.")
    if wanted == current:
        return CommandResult(lines=(f"The effort is {wanted} already.",))
    return CommandResult(ops=(SetEffort(effort="" if wanted == AUTO else wanted),))


COMMAND = Command(help=ABOUT, run=run)
