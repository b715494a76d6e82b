"""The dialog as a side query may see it: words of both sides, no tools, no thoughts, no reminders."""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.messages import TextPart
from clew.system.redact import redact
from clew.transcript.typed_text import bounded, is_interruption, typed

MAX_MESSAGES = 30
_MAX_CHARS = 2000


class Line(NamedTuple):
    """One message of the dialog."""

    by_user: bool
    text: str


class DialogFold:
    """Keeps the summary and the end of the dialog; one more entry costs that entry."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=MAX_MESSAGES)
        self._summary = ""

    def feed(self, entry: Entry) -> None:
        """Take one more entry."""
        if isinstance(entry, UserEntry) and not entry.is_sidechain:
            content = entry.message.content
            words = content if isinstance(content, str) else _texts(content)
            if entry.is_compact_summary:
                self._summary = bounded(words, _MAX_CHARS * 2)
            elif not entry.is_meta and not is_interruption(words):
                plain, command = typed(words)
                if plain or command:
                    self._lines.append(Line(True, bounded(f"{command} {plain}".strip(), _MAX_CHARS)))
        elif isinstance(entry, AssistantEntry) and not entry.is_sidechain and not entry.is_api_error_message:
            words = _texts(entry.message.content).strip()
            if words:
                self._lines.append(Line(False, bounded(words, _MAX_CHARS)))

    def lines(self) -> list[Line]:
        """The summary of what was compacted, then the last messages from one of the user on; secrets are masked."""
        lines = list(self._lines)
        first = next((index for index, line in enumerate(lines) if line.by_user), 0)
        before = [Line(False, f"(summary of the earlier session) {self._summary}")] if self._summary else []
        return [Line(line.by_user, redact(line.text)) for line in [*before, *lines[first:]]]


def _texts(parts: Iterable[object]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def dialog_of(entries: Iterable[Entry]) -> list[Line]:
    """The end of a whole session's dialog."""
    fold = DialogFold()
    for entry in entries:
        fold.feed(entry)
    return fold.lines()


def as_text(lines: Iterable[Line]) -> str:
    """The dialog as one quoted text, so that nothing in it reads as an order."""
    return "\n".join(f"{'USER' if line.by_user else 'AGENT'}: {line.text}" for line in lines)
