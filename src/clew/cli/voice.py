"""Where words about the log go: into the conversation while there is one, else to stderr."""

import sys
from typing import Literal

from clew.host.session import Session
from clew.system.terminal_text import sanitize


class Voice:
    """Given to the writer before there is a session; a line to stderr would tear a screen that is being typed on."""

    def __init__(self) -> None:
        self.session: Session | None = None

    def __call__(self, level: Literal["info", "warning", "error"], text: str) -> None:
        """Tell a person."""
        if self.session is not None and not self.session.closed:
            self.session.notice(level, text, code="log")
        else:
            say(text)


def say(text: str) -> None:
    """A line for a person."""
    sys.stderr.write(f"clew: {sanitize(text, one_line=True)}\n")
