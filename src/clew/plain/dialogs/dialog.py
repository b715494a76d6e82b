"""What a person is asked beside the conversation: a text to show, a line to read, an op that answers."""

from typing import Any, Protocol

from msgspec import Struct

from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Answerer, Op
from clew.text.terminal_text import reveal

BAR = "  | "
CONTINUED = "  : "


class Shown(Struct, frozen=True):
    """One line for the screen."""

    text: str
    style: str = ""
    hang: str = "    "
    """Begins every further row of a line that is too long for the screen."""


class DialogReply(Struct, frozen=True, kw_only=True):
    """What came of a typed line: an op ends the dialog, lines alone mean "go on asking"."""

    op: Op | None = None
    over: bool = False
    """The dialog is over, and nothing is sent."""
    lookup: Lookup[Any] | None = None
    lines: tuple[Shown, ...] = ()


class LineDialog(Protocol):
    """An open question to a person. Nothing is chosen in advance; an empty line answers nothing that matters."""

    @property
    def request_id(self) -> str:
        """The id of the request it answers."""
        ...

    @property
    def prompt(self) -> str:
        """What stands before the typed answer."""
        ...

    def opening(self) -> tuple[Shown, ...]:
        """What to show first."""
        ...

    def reply(self, typed: str) -> DialogReply:
        """Judge a typed line."""
        ...

    def decline(self, reason: str, *, stop: bool, by: Answerer = "user") -> Op | None:
        """The op for "no answer": interrupted, or nobody there. None: the agent does not wait for it."""
        ...


def quoted(text: str, *, max_chars: int = 0) -> list[Shown]:
    """The exact text behind a bar, so that no line of it can pose as one of ours."""
    return [Shown(BAR + line, hang=CONTINUED) for line in reveal(text, max_chars=max_chars).split("\n")]
