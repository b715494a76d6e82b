"""/vim: the keys of vi in the prompt, on or off."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.config import BY_NAME, ON_OFF, next_value, set_to

ABOUT = CommandHelp(
    name="vim",
    usage="/vim [on | off]",
    summary="Edit the prompt with the keys of vi, or no longer, here and from now on.",
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Switch it; ScreenChanged is the answer."""
    setting = BY_NAME["vim"]
    wanted = argument.strip().lower() or next_value(setting, context.screen.get("vim", "off"))
    if wanted not in ON_OFF:
        return usage_error(ABOUT, f"{argument.strip()} is neither on nor off.")
    return set_to(context, setting, wanted)


COMMAND = Command(help=ABOUT, run=run)
