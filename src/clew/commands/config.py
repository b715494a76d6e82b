"""/config: the settings of the screen, seen and changed while it is there."""

from msgspec import Struct

from clew.commands.base import Command, CommandContext, CommandHelp, CommandResult, usage_error
from clew.commands.theme import THEMES
from clew.protocol.events import ScreenChanged
from clew.protocol.ops import SetScreen, SetTheme

ON_OFF = ("on", "off")


class ScreenSetting(Struct, frozen=True):
    """One setting of the section `screen`."""

    name: str
    about: str
    choices: tuple[str, ...] = ON_OFF


SETTINGS = (
    ScreenSetting("theme", "the colours", tuple(THEMES)),
    ScreenSetting("density", "how closely calls are shown", ("labels", "calls", "full")),
    ScreenSetting("reasoning", "what the model thinks is shown"),
    ScreenSetting("vim", "the prompt has the keys of vi"),
    ScreenSetting("reducedMotion", "nothing moves but words and figures"),
    ScreenSetting("mouseWheel", "the wheel scrolls"),
    ScreenSetting("mouseClick", "a click opens and closes"),
    ScreenSetting("mouseSelect", "dragging selects and copies"),
    ScreenSetting("mouseRight", "the right button extends a selection, or copies what it is over"),
)
BY_NAME = {setting.name.lower(): setting for setting in SETTINGS}
ABOUT = CommandHelp(
    name="config",
    usage="/config [NAME [VALUE]]",
    summary="Show the settings of the screen, or change one, here and from now on.",
    details=(
        *(f"  {setting.name}: {setting.about} ({', '.join(setting.choices)})" for setting in SETTINGS),
        "clew config shows and sets all others.",
    ),
)


def changed_line(event: ScreenChanged) -> str:
    """What ScreenChanged says."""
    where = (
        f"saved in {event.saved_in}" if event.saved_in else "for this session only: your settings are not read in it"
    )
    return f"screen.{event.name}: {event.value} ({where})"


def setting_op(setting: ScreenSetting, value: str) -> SetScreen | SetTheme:
    """The op that gives a setting a value."""
    return SetTheme(theme=value) if setting.name == "theme" else SetScreen(name=setting.name, value=value)


def next_value(setting: ScreenSetting, value: str) -> str:
    """The value after this one, once around."""
    at = setting.choices.index(value) if value in setting.choices else -1
    return setting.choices[(at + 1) % len(setting.choices)]


def set_to(context: CommandContext, setting: ScreenSetting, value: str) -> CommandResult:
    """Ask for a value; an unknown one is refused with those there are."""
    if not context.screen:
        return CommandResult(lines=("This is a setting of the full screen, which is not shown here.",), is_error=True)
    if value not in setting.choices:
        known = ", ".join(setting.choices)
        return CommandResult(lines=(f"{setting.name} is one of {known}; not {value}.",), is_error=True)
    return CommandResult(ops=(setting_op(setting, value),))


def run(context: CommandContext, argument: str) -> CommandResult:
    """Show all, one, or change one; ScreenChanged is the answer."""
    name, _, value = argument.strip().partition(" ")
    if not name:
        rows = [f"  {one.name}: {context.screen.get(one.name, '')}  ({one.about})" for one in SETTINGS]
        return CommandResult(lines=("The screen:", *rows, "/config NAME VALUE changes one; clew config all others."))
    setting = BY_NAME.get(name.lower().removeprefix("screen."))
    if setting is None:
        return usage_error(ABOUT, f"There is no setting {name} of the screen.")
    if not value.strip():
        return CommandResult(lines=(f"{setting.name}: {context.screen.get(setting.name, 'unknown')}",))
    return set_to(context, setting, value.strip())


COMMAND = Command(help=ABOUT, run=run)
