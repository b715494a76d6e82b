"""Pickers for what has a few values: the theme, the permission mode, the settings of the screen."""

from collections.abc import Iterator

from clew.commands.base import CommandContext
from clew.commands.config import SETTINGS, next_value, setting_op
from clew.commands.mode import BYPASS
from clew.commands.permissions import MODES
from clew.commands.theme import THEMES
from clew.presentation.rows.spans import Row, Span, spread
from clew.protocol.events import Event, ScreenChanged, ThemeChanged
from clew.protocol.ops import SetPermissionMode, SetTheme
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import Option
from clew.tui.dialogs.picker import Picker, holds


def made_of(kind: str, context: CommandContext) -> Dialog:
    """For the registry: `theme`, `mode` or `config`."""
    return {"theme": ThemePicker, "mode": ModePicker, "config": ConfigPicker}[kind](context)


class ValuePicker(Picker):
    """A list of values with what each means; the one in force is marked first."""

    heading = ""

    def __init__(self, context: CommandContext) -> None:
        super().__init__()
        self.context_now = context

    def title(self) -> str:
        return self.heading

    def values(self) -> dict[str, str]:
        """Each value with its meaning."""
        return {}

    def in_force(self) -> str:
        """The value that holds now."""
        return ""

    def begin(self) -> None:
        super().begin()
        places = [at for at, option in enumerate(self.options.items) if option.value == self.in_force()]
        if places:
            self.options.point(places[0])

    def rows_for(self, words: list[str]) -> Iterator[Option]:
        for value, meaning in self.values().items():
            if holds(f"{value} {meaning}", words):
                yield Option(value=value, rows=lambda columns, value=value: [self._row(value, columns)])

    def _row(self, value: str, columns: int) -> Row:
        current = Span("  in use" if value == self.in_force() else "", "accent")
        return spread((Span(value), current), (Span(self.values()[value], "dim"),), columns)

    def hint(self) -> str:
        return "↑ ↓ Enter uses it · Esc closes"


class ThemePicker(ValuePicker):
    """The themes."""

    heading = "Theme"
    asks_for = "a theme"

    def values(self) -> dict[str, str]:
        return THEMES

    def in_force(self) -> str:
        return self.context_now.theme

    def chosen(self, place: int) -> None:
        self.finish(SetTheme(theme=self.options.items[place].value))


class ModePicker(ValuePicker):
    """The permission modes; the one that asks for nothing only where the session was started with it."""

    heading = "Permission mode"
    asks_for = "a mode"

    def values(self) -> dict[str, str]:
        facts = self.context_now.facts
        return {name: about for name, about in MODES.items() if name != BYPASS or facts.may_bypass}

    def in_force(self) -> str:
        return self.context_now.facts.permission_mode

    def chosen(self, place: int) -> None:
        wanted = self.options.items[place].value
        if wanted == self.in_force():
            self.dismiss()
        else:
            self.finish(SetPermissionMode(mode=wanted))


class ConfigPicker(Picker):
    """The settings of the screen. Enter gives one its next value, and the list stays open."""

    asks_for = "a setting"

    def __init__(self, context: CommandContext) -> None:
        super().__init__()
        self._now = dict(context.screen)

    def title(self) -> str:
        return "The screen"

    def rows_for(self, words: list[str]) -> Iterator[Option]:
        for setting in SETTINGS:
            if holds(f"{setting.name} {setting.about}", words):
                yield Option(value=setting.name, rows=lambda columns, name=setting.name: [self._row(name, columns)])

    def _row(self, name: str, columns: int) -> Row:
        setting = next(one for one in SETTINGS if one.name == name)
        value = Span(f"  {self._now.get(name, '')}", "accent")
        return spread((Span(name), value), (Span(setting.about, "dim"),), columns)

    def hint(self) -> str:
        return "Enter changes it, here and from now on · clew config has all others · Esc closes"

    def chosen(self, place: int) -> None:
        name = self.options.items[place].value
        setting = next(one for one in SETTINGS if one.name == name)
        self.ask_for(setting_op(setting, next_value(setting, self._now.get(name, ""))))

    def news(self, event: Event) -> None:
        """A value changed: the list shows it."""
        match event:
            case ScreenChanged():
                self._now[event.name] = event.value
            case ThemeChanged():
                self._now["theme"] = event.theme
            case _:
                return
        self.refill()
