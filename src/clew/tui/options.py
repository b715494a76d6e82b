"""What the command line tells the full screen, beside the Client."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from clew.commands.base import KeyHelp
from clew.composing.keymap import Keymap, KeymapError, load_keymap
from clew.config.schema import ScreenSettings, TerminalNotice


class ScreenOptions(Struct, frozen=True, kw_only=True):
    """Everything has a default: a Client alone is enough."""

    home: Path | None = None
    """CLEW_HOME, for history, drafts and keys; None keeps nothing on disk."""
    env: Mapping[str, str] = {}
    screen: ScreenSettings = ScreenSettings()
    notifications: TerminalNotice = "auto"
    """How the terminal tells a notice."""
    prompt: str = ""
    """Sent at once, as if it had been typed."""
    away_s: float = 300.0
    """Who comes back after so long is told where things stand; 0: only when asked."""
    close_timeout_s: float = 15.0
    """How long the session may take to write everything when it is closed."""
    quit_window_s: float = 2.0
    """A second Ctrl-C, or a second Esc, within this time means more than the first."""


def keymap_or_problem(home: Path | None) -> tuple[Keymap, str]:
    """The user's keys; the defaults and the reason where they cannot be used."""
    try:
        return (load_keymap(home) if home is not None else Keymap()), ""
    except KeymapError as error:
        return Keymap(), str(error)


def key_help(keymap: Keymap) -> tuple[KeyHelp, ...]:
    """Every key with what it does, for the help."""
    rows = keymap.rows()
    return tuple(KeyHelp(where=row.context, keys=", ".join(row.keys), does=row.summary) for row in rows)
