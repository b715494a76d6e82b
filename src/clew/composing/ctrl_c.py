"""What Ctrl-C means, by what goes on: a decision without side effects."""

from typing import Literal

from msgspec import Struct

Meaning = Literal["abandon", "wait", "quit", "deny", "interrupt", "clear", "warn"]


class Situation(Struct, frozen=True, kw_only=True):
    """What goes on when the key arrives."""

    closing: bool
    """The session is being closed already."""
    stuck: bool
    """Closing takes longer than a person who presses a key several times needs."""
    again: bool
    """The last Ctrl-C was a moment ago."""
    asking: bool
    busy: bool
    interactive: bool
    typed: bool
    """There is text on the line."""


def meaning_of(now: Situation) -> Meaning:
    """The gentlest thing first; a second press within the window always leads out."""
    if now.closing:
        return "abandon" if now.stuck else "wait"
    if now.again and (now.busy or not now.typed):
        return "quit"
    if now.asking:
        return "deny"
    if now.busy:
        return "interrupt"
    if not now.interactive:
        return "quit"
    return "clear" if now.typed else "warn"
