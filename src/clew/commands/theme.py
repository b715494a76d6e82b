"""/theme: the colours of the screen."""

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.protocol.events import ThemeChanged
from clew.protocol.ops import SetTheme

THEMES = {
    "clew-dark": "for dark terminals",
    "clew-light": "for light terminals",
    "clew-high-contrast": "stronger differences",
    "terminal": "only the colours your terminal gives",
}
ABOUT = CommandHelp(
    name="theme",
    usage="/theme [NAME]",
    summary="List the colours, or use others, here and from now on.",
    details=tuple(f"  {name}: {meaning}" for name, meaning in THEMES.items()),
)


def changed_line(event: ThemeChanged) -> str:
    """What ThemeChanged says."""
    where = (
        f"saved in {event.saved_in}" if event.saved_in else "for this session only: your settings are not read in it"
    )
    return f"Theme: {event.theme} ({where})"


def run(context: CommandContext, argument: str) -> CommandResult:
    """The answer is an event that front ends with colours follow."""
    wanted = argument.strip().lower()
    if not wanted:
        used = context.theme or context.facts.theme
        rows = (f"{'*' if name == used else ' '} {name}: {meaning}" for name, meaning in THEMES.items())
        return CommandResult(lines=("Themes:", *rows, "/theme NAME uses one."))
    fitting = [name for name in THEMES if wanted in (name, name.removeprefix("clew-"))]
    if not fitting:
        return usage_error(ABOUT, f"There is no theme {wanted}.")
    return CommandResult(ops=(SetTheme(theme=fitting[0]),))


COMMAND = Command(help=ABOUT, run=run)
