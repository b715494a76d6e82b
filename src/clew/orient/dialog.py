"""The dialog as a side query may see it: words of both sides, no tools, no thoughts, no reminders."""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from clew.ledger.words import is_interruption, typed
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.messages import AssistantMessage, Message, TextPart, UserMessage
from clew.system.redact import redact

MAX_MESSAGES = 30
_MAX_CHARS = 2000


class Line(NamedTuple):
    """One message of the dialog."""

    by_user: bool
    text: str


class DialogFold:
    """Keeps the end of the dialog; one more entry costs that entry."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=MAX_MESSAGES)

    def feed(self, entry: Entry) -> None:
        """Take one more entry."""
        if isinstance(entry, UserEntry):
            if entry.is_meta or entry.is_compact_summary or entry.is_sidechain:
                return
            words = entry.message.content if isinstance(entry.message.content, str) else _texts(entry.message.content)
            plain, command = typed(words)
            if (plain or command) and not is_interruption(words.lstrip()):
                self._lines.append(Line(True, _bounded(f"{command} {plain}".strip())))
        elif isinstance(entry, AssistantEntry) and not entry.is_sidechain and not entry.is_api_error_message:
            words = _texts(entry.message.content)
            if words.strip():
                self._lines.append(Line(False, _bounded(words.strip())))

    def lines(self) -> list[Line]:
        """The last messages, beginning with one of the user where there is one; secrets are masked."""
        lines = list(self._lines)
        first = next((index for index, line in enumerate(lines) if line.by_user), 0)
        return [Line(line.by_user, redact(line.text)) for line in lines[first:]]


def _texts(parts: Iterable[object]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _bounded(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS * 3 // 4] + " … " + text[-_MAX_CHARS // 4 :]


def dialog_of(entries: Iterable[Entry]) -> list[Line]:
    """The end of a whole session's dialog."""
    fold = DialogFold()
    for entry in entries:
        fold.feed(entry)
    return fold.lines()


def as_text(lines: Iterable[Line]) -> str:
    """The dialog as one quoted text, so that nothing in it reads as an order."""
    return "\n".join(f"{'USER' if line.by_user else 'AGENT'}: {line.text}" for line in lines)


def one_message(text: str) -> tuple[Message, ...]:
    """A request of a single user message."""
    return (UserMessage(content=text),)


def reply_text(message: AssistantMessage | None, parts: Iterable[object] = ()) -> str:
    """The words of a reply."""
    return _texts(message.content if message is not None else parts)
