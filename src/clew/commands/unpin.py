"""/unpin: a pin no longer crosses compaction."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.ops import Pin

ABOUT = CommandHelp(
    name="unpin", usage="/unpin N | all", summary="Let go of a pin by its number in /pin, or of all of them."
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event for each."""
    pins = context.facts.state.pins
    wanted = argument.strip()
    if wanted == "all":
        chosen = pins
    elif wanted.isdecimal() and 1 <= int(wanted) <= len(pins):
        chosen = (pins[int(wanted) - 1],)
    else:
        return usage_error(ABOUT, f"There are {len(pins)} pins." if wanted else "Which one?")
    return CommandResult(ops=tuple(Pin(target=pin.target, pinned=False) for pin in chosen))


COMMAND = Command(help=ABOUT, run=run)
