"""Lines for a person on stderr, while nothing else talks to them."""

import sys
from typing import Literal

from clew.text.terminal_text import sanitize


def say(text: str) -> None:
    """One line."""
    sys.stderr.write(f"clew: {sanitize(text, one_line=True)}\n")


def say_level(level: Literal["info", "warning", "error"], text: str) -> None:
    """The same, for those who also tell how grave it is."""
    say(text)
