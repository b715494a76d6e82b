"""What clew does with its own process: lines for a person on stderr, and no garbage collection while it starts."""

import gc
import sys
from typing import Literal

from clew.text.terminal_text import sanitize


def say(text: str) -> None:
    """One line for a person, while nothing else talks to them."""
    sys.stderr.write(f"clew: {sanitize(text, one_line=True)}\n")


def say_level(level: Literal["info", "warning", "error"], text: str) -> None:
    """The same, for those who also tell how grave it is."""
    say(text)


def hold_collection() -> None:
    """Start-up begins: nothing that is made by its end is garbage."""
    gc.disable()


def begin_collection() -> None:
    """Start-up is over: collect from now on, but never walk what was loaded by then."""
    gc.freeze()
    gc.enable()
