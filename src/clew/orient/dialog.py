"""The dialog of a session: what a side query may see of it, and all that a model's words are held against."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from clew.protocol.entries import AssistantEntry, Entry, SystemEntry, UserEntry
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.text.redact import redact
from clew.transcript.mapping.typed_text import bounded, is_interruption, typed

MAX_MESSAGES = 30
_MAX_CHARS = 2000
_KEPT_MESSAGES = 400
"""How many spoken lines, and how many of tools, can bear something out."""
_SPOKEN_CHARS = 12_000
_TOOL_CHARS = 4000
_SUMMARY = "(summary of the earlier session)"


class DialogLine(NamedTuple):
    """One message of the dialog, or what a tool was given and gave."""

    by_user: bool
    text: str
    by_tool: bool = False


class DialogFold:
    """Keeps the summary, what both sides said and what tools showed; one more entry costs that entry."""

    def __init__(self) -> None:
        self._spoken: deque[DialogLine] = deque(maxlen=_KEPT_MESSAGES)
        self._shown: deque[DialogLine] = deque(maxlen=_KEPT_MESSAGES)
        self._summary = ""

    def feed(self, entry: Entry) -> None:
        """Take one more entry."""
        if isinstance(entry, UserEntry) and not entry.is_sidechain:
            content = entry.message.content
            words = content if isinstance(content, str) else _texts(content)
            if not isinstance(content, str):
                self._tools(content)
            if entry.is_compact_summary:
                self._summary = words
            elif not entry.is_meta and not is_interruption(words):
                plain, command = typed(words)
                if plain or command:
                    self._spoken.append(DialogLine(True, bounded(f"{command} {plain}".strip(), _SPOKEN_CHARS)))
        elif isinstance(entry, AssistantEntry) and not entry.is_sidechain:
            self._tools(entry.message.content)
            if words := _texts(entry.message.content).strip():
                failed = entry.is_api_error_message
                (self._shown if failed else self._spoken).append(
                    DialogLine(False, bounded(words, _SPOKEN_CHARS), by_tool=failed)
                )
        elif isinstance(entry, SystemEntry) and entry.subtype == "informational":
            self._shown.append(DialogLine(False, bounded(entry.content, _TOOL_CHARS), by_tool=True))

    def _tools(self, parts: Iterable[object]) -> None:
        for part in parts:
            if isinstance(part, ToolCallPart):
                call = meant_call(part)
                self._shown.append(
                    DialogLine(False, bounded(f"{call.name} {words_of(call.arguments)}", _TOOL_CHARS), True)
                )
            elif isinstance(part, ToolResultPart):
                self._shown.append(DialogLine(False, bounded(words_of(part.content), _TOOL_CHARS), True))

    def lines(self) -> list[DialogLine]:
        """The summary of what was compacted, what tools showed, then all that was said."""
        before = [DialogLine(False, f"{_SUMMARY} {bounded(self._summary, _MAX_CHARS * 2)}")] if self._summary else []
        return [*before, *self._shown, *self._spoken]


def recent(lines: Sequence[DialogLine]) -> list[DialogLine]:
    """What a model is given: the last messages from one of the user on, after the summary; secrets are masked."""
    spoken = [line for line in lines if not line.by_tool]
    summary = spoken[:1] if spoken and not spoken[0].by_user and spoken[0].text.startswith(_SUMMARY) else []
    last = spoken[len(summary) :][-MAX_MESSAGES:]
    first = next((index for index, line in enumerate(last) if line.by_user), 0)
    return [DialogLine(line.by_user, redact(bounded(line.text, _MAX_CHARS))) for line in [*summary, *last[first:]]]


def words_of(value: object) -> str:
    """All text of a tool's input or result."""
    if isinstance(value, str):
        return value
    if isinstance(value, TextPart):
        return value.text
    if isinstance(value, dict):
        return " ".join(map(words_of, cast("dict[str, object]", value).values()))
    if isinstance(value, list | tuple):
        return " ".join(map(words_of, cast("list[object]", value)))
    return str(value) if isinstance(value, int | float) else ""


def _texts(parts: Iterable[object]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def dialog_of(entries: Iterable[Entry]) -> list[DialogLine]:
    """A whole session's dialog."""
    fold = DialogFold()
    for entry in entries:
        fold.feed(entry)
    return fold.lines()


def as_text(lines: Iterable[DialogLine]) -> str:
    """The dialog as one quoted text, so that nothing in it reads as an order."""
    return "\n".join(f"{'USER' if line.by_user else 'AGENT'}: {line.text}" for line in lines)
