"""Help: which key does what where, and every command with what it does. Typing filters both."""

from collections.abc import Iterator, Sequence

from clew.commands.base import CommandHelp, KeyHelp
from clew.presentation.rows.spans import Row, Span, wrapped
from clew.text.terminal_text import clip, display_width
from clew.tui.dialogs.options import Option
from clew.tui.dialogs.picker import Picker, holds

MAX_KEYS_COLUMNS = 26


def made_of(keys: Sequence[KeyHelp], commands: Sequence[CommandHelp]) -> "HelpDialog":
    """For the registry."""
    return HelpDialog(keys, commands)


class HelpDialog(Picker):
    """Nothing is decided here; Enter on a command puts it into the prompt."""

    asks_for = "a key, a command or a word"

    def __init__(self, keys: Sequence[KeyHelp], commands: Sequence[CommandHelp]) -> None:
        super().__init__()
        self._help_keys = tuple(keys)
        self._commands = tuple(commands)
        names = [f"/{about.name}" for about in commands] + [row.keys for row in keys]
        self._longest = min(max(map(display_width, names), default=0), MAX_KEYS_COLUMNS)

    def title(self) -> str:
        return "Help"

    def hint(self) -> str:
        return "↑ ↓ PgUp PgDn · Enter takes a command · Esc closes"

    def rows_for(self, words: list[str]) -> Iterator[Option]:
        """The keys by context first, then the commands."""
        fitting = [row for row in self._help_keys if holds(f"{row.where} {row.keys} {row.does}", words)]
        for context in dict.fromkeys(row.where for row in fitting):
            yield _heading(f"keys · {context}")
            for at, row in enumerate(fitting):
                if row.where == context:
                    yield self._told(f"{context} {at}", row.keys or "(no key)", row.does)
        commands = [about for about in self._commands if holds(_words_of(about), words)]
        if commands:
            yield _heading("commands")
        for about in commands:
            yield self._told(f"/{about.name}", f"/{about.name}", about.summary)

    def _told(self, value: str, name: str, summary: str) -> Option:
        def rows(columns: int) -> list[Row]:
            size = min(self._longest, max(columns // 3, 8))
            shown = clip(name, size)
            margin = (Span(shown), Span(" " * (size - display_width(shown) + 2)))
            return wrapped((Span(summary, "dim"),), columns, first=margin, hang=(Span(" " * (size + 2)),))

        return Option(value=value, rows=rows)

    def chosen(self, place: int) -> None:
        value = self.options.items[place].value
        if value.startswith("/"):
            self.post_message(self.Overtyped(f"{value} "))
            self.dismiss()
        else:
            self.say("This is a key: press it where it is told for.")


def _words_of(about: CommandHelp) -> str:
    return " ".join((f"/{about.name}", *about.aliases, about.summary, *about.details))


def _heading(text: str) -> Option:
    return Option(value="", heading=True, label=(Span(text, "dim"),))
