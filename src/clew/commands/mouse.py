"""/mouse: which parts of the mouse are clew's."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.config import BY_NAME, ON_OFF, next_value, set_to

PARTS = {"wheel": "mousewheel", "click": "mouseclick", "select": "mouseselect", "right": "mouseright"}
ABOUT = CommandHelp(
    name="mouse",
    usage="/mouse [wheel | click | select | right] [on | off]",
    summary="Show or switch what the mouse does here; what is off does nothing, and all off leave it to the terminal.",
    details=tuple(f"  {part}: {BY_NAME[key].about}" for part, key in PARTS.items()),
)


def run(context: CommandContext, argument: str) -> CommandResult:
    """Show the four, or switch one."""
    words = argument.lower().split()
    if not words:
        rows = (f"  {part}: {context.screen.get(BY_NAME[key].name, 'unknown')}" for part, key in PARTS.items())
        return CommandResult(lines=("The mouse:", *rows, "/mouse PART on or off switches one."))
    if words[0] not in PARTS or len(words) > 2 or (len(words) == 2 and words[1] not in ON_OFF):
        return usage_error(ABOUT, f"The mouse has no part {argument.strip()}.")
    setting = BY_NAME[PARTS[words[0]]]
    value = words[1] if len(words) == 2 else next_value(setting, context.screen.get(setting.name, ""))
    return set_to(context, setting, value)


COMMAND = Command(help=ABOUT, run=run)
