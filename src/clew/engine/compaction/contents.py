"""What fills a window, piece by piece: whose words, which tool's results, where each piece comes from."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from clew.engine.compaction.slimming import Media, is_media, media_kind, media_type
from clew.llm.estimate import FRAME, Weights, weigh_all, weigh_part, weigh_text, weigh_tool
from clew.protocol.entries import AssistantEntry, AttachmentEntry, Entry, UserEntry
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import ToolSpec, meant_call
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    parts_of,
)
from clew.transcript.chain.view import attachment_text

SYSTEM = "system prompt"
MEMORY = "memory"
TOOLS = "tools"
YOURS = "your words"
NOTES = "notes of clew"
AGENTS = "agent's words"
REASONING = "reasoning"
CALLS = "tool calls"
RESULTS = "results: "
MEDIA = "media"
SUMMARY = "summary"
FREE = "free"
MEMORY_MARK = "<memory-file "
"""How every memory file begins, in the system prompt and when it is told later (`prompts/memory.py`)."""
SUBJECTS = ("file_path", "notebook_path", "command", "pattern", "url", "query", "path", "description")
MAX_NAME_CHARS = 60


class WindowPiece(Struct, frozen=True, kw_only=True):
    """Something in the window."""

    kind: str
    name: str
    weights: Weights
    source: EntryId | None = None


class Weigher:
    """Weighs parts once: a request is mostly what the last one was."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Part, Weights]] = {}

    def part(self, part: Part) -> Weights:
        """Raw tokens of a part."""
        known = self._known.get(id(part))
        if known is not None:
            return known[1]
        weights = weigh_part(part)
        self._known[id(part)] = (part, weights)
        return weights

    def messages(self, messages: Iterable[Message]) -> Weights:
        """Raw tokens of some messages."""
        return weigh_all(weights for message in messages for weights in (FRAME, *map(self.part, parts_of(message))))

    def keep_only(self, messages: Iterable[Message]) -> None:
        """Forget what is in no request any more, when that is most of what is known."""
        live = {id(part) for message in messages for part in parts_of(message)}
        if len(self._known) > 2 * len(live) + 64:
            self._known = {key: value for key, value in self._known.items() if key in live}


def pieces(
    *,
    system: Sequence[str],
    tools: Sequence[ToolSpec],
    history: Sequence[Message],
    chain: Sequence[Entry],
    weigher: Weigher,
) -> list[WindowPiece]:
    """All of a request. `history`: as the model is sent it; `chain`: the entries behind it, which name the sources."""
    found = [
        WindowPiece(kind=MEMORY if MEMORY_MARK in block else SYSTEM, name=_first_line(block), weights=weigh_text(block))
        for block in system
    ]
    found += [WindowPiece(kind=TOOLS, name=tool.name, weights=weigh_tool(tool)) for tool in tools]
    sources = _Sources(chain)
    for message in history:
        mine = [piece for part in parts_of(message) for piece in _of_part(message, part, sources, weigher)]
        for number, piece in enumerate(mine):
            weights = piece.weights + FRAME if number == 0 else piece.weights
            found.append(WindowPiece(kind=piece.kind, name=piece.name, weights=weights, source=piece.source))
    return found


class _Sources:
    """Which entry a part of a request came from. Parts may have been replaced, joined or repaired on the way."""

    def __init__(self, chain: Sequence[Entry]) -> None:
        self._texts: dict[str, UserEntry | AttachmentEntry] = {}
        self._parts: dict[int, EntryId] = {}
        self._results: dict[str, EntryId] = {}
        self._calls: dict[str, tuple[ToolCallPart, EntryId]] = {}
        for entry in chain:
            if isinstance(entry, AttachmentEntry):
                self._texts[attachment_text(entry.attachment)] = entry
            elif isinstance(entry, UserEntry | AssistantEntry):
                self._note(entry)

    def _note(self, entry: UserEntry | AssistantEntry) -> None:
        content = entry.message.content
        if isinstance(content, str):
            if isinstance(entry, UserEntry):
                self._texts[content] = entry
            return
        for part in content:
            self._parts[id(part)] = entry.uuid
            if isinstance(part, ToolResultPart):
                self._results[part.call_id] = entry.uuid
            elif isinstance(part, ToolCallPart):
                self._calls[part.id] = (meant_call(part), entry.uuid)
            elif isinstance(part, TextPart) and isinstance(entry, UserEntry):
                self._texts[part.text] = entry

    def of(self, part: Part) -> EntryId | None:
        if isinstance(part, ToolResultPart):
            return self._results.get(part.call_id)
        if isinstance(part, ToolCallPart):
            found = self._calls.get(part.id)
            return found[1] if found else None
        if isinstance(part, TextPart) and id(part) not in self._parts:
            entry = self._texts.get(part.text)
            return entry.uuid if entry else None
        return self._parts.get(id(part))

    def call_of(self, result: ToolResultPart) -> ToolCallPart | None:
        found = self._calls.get(result.call_id)
        return found[0] if found else None

    def kind_of_input(self, part: TextPart) -> str:
        entry = self._texts.get(part.text)
        if MEMORY_MARK in part.text and (entry is None or not isinstance(entry, UserEntry) or entry.is_meta):
            return MEMORY
        if isinstance(entry, UserEntry):
            if entry.is_compact_summary:
                return SUMMARY
            return NOTES if entry.is_meta or entry.origin == "clew" else YOURS
        return YOURS if entry is not None else NOTES


def _of_part(message: Message, part: Part, sources: _Sources, weigher: Weigher) -> Iterator[WindowPiece]:
    source = sources.of(part)
    match part:
        case TextPart():
            kind = AGENTS if message.role == "assistant" else sources.kind_of_input(part)
            yield WindowPiece(kind=kind, name=_first_line(part.text), weights=weigher.part(part), source=source)
        case ReasoningPart() | RedactedReasoningPart():
            yield WindowPiece(kind=REASONING, name=REASONING, weights=weigher.part(part), source=source)
        case ToolCallPart():
            yield WindowPiece(kind=CALLS, name=_call_name(meant_call(part)), weights=weigher.part(part), source=source)
        case ToolResultPart():
            yield from _of_result(part, sources.call_of(part), source, weigher)
        case ImagePart() | DocumentPart():
            kind = MEDIA if is_media(part) else YOURS
            yield WindowPiece(kind=kind, name=_media_name(part), weights=weigher.part(part), source=source)


def _of_result(
    result: ToolResultPart, call: ToolCallPart | None, source: EntryId | None, weigher: Weigher
) -> Iterator[WindowPiece]:
    """Words and media apart; together they weigh what the result weighs."""
    tool = call.name if call is not None else "unknown"
    name = _call_name(call) if call is not None else "a result without its call"
    media = [
        WindowPiece(kind=MEDIA, name=f"{_media_name(inner)} of {name}", weights=weigher.part(inner), source=source)
        for inner in (() if isinstance(result.content, str) else result.content)
        if isinstance(inner, ImagePart | DocumentPart) and is_media(inner)
    ]
    words = weigher.part(result) - weigh_all(piece.weights for piece in media)
    yield WindowPiece(kind=RESULTS + tool, name=name, weights=words, source=source)
    yield from media


def _call_name(call: ToolCallPart) -> str:
    arguments: dict[str, Any] = call.arguments
    subject = next((value for key in SUBJECTS if isinstance(value := arguments.get(key), str) and value), "")
    return f"{call.name} {_first_line(subject)}".strip()


def _media_name(part: Media) -> str:
    return f"{media_kind(part)} {media_type(part)}"


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= MAX_NAME_CHARS else line[: MAX_NAME_CHARS - 1] + "…"
