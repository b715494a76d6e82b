"""A conversation as text for people: plain lines, or Markdown."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from clew.protocol.entries import AssistantEntry, AttachmentEntry, Entry, EventEntry, SystemEntry, UserEntry
from clew.protocol.events import CallChanged
from clew.protocol.ids import CallId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    parts_of,
    result_text,
)
from clew.transcript.chain.links import BOUNDARY
from clew.transcript.chain.view import attachment_text
from clew.transcript.mapping.call_text import CallRecord, Piece, call_words, first_line

_RESULT_LINES = 12
_DIFF_LINES = 200


def plain(entries: Iterable[Entry], keyed: Iterable[Entry] = ()) -> Iterator[str]:
    """Readable blocks of text, one for each thing said or done. The text is not sanitised. `keyed`: the lines beside
    the conversation."""
    entries, keyed = list(entries), list(keyed)
    changed, record = changed_calls(keyed), CallRecord(entries, keyed)
    for entry in entries:
        if isinstance(entry, UserEntry):
            yield from _plain_user(entry, record)
        elif isinstance(entry, AssistantEntry):
            yield from (block for part in entry.message.content if (block := _plain_reply(part, changed, record)))
        elif isinstance(entry, SystemEntry):
            note = _note(entry)
            if note:
                yield f"-- {note}"
        elif isinstance(entry, AttachmentEntry):
            text = attachment_text(entry.attachment)
            if text:
                yield f"   [attached: {first_line(text)}]"


def markdown(entries: Iterable[Entry], keyed: Iterable[Entry] = (), *, title: str) -> Iterator[str]:
    """The same as a Markdown document; every result stands in a fence that its text cannot close."""
    yield f"# {title}"
    speaker = ""
    entries, keyed = list(entries), list(keyed)
    changed, record = changed_calls(keyed), CallRecord(entries, keyed)
    for entry in entries:
        for who, block in _markdown_blocks(entry, changed, record):
            if who != speaker:
                yield f"## {who}"
                speaker = who
            yield block


def _plain_user(entry: UserEntry, record: CallRecord) -> Iterator[str]:
    for part in parts_of(entry.message):
        if isinstance(part, ToolResultPart):
            if not record.is_told(part):
                yield _clipped(result_text(part), failed=part.is_error)
        elif isinstance(part, TextPart) and part.text.strip():
            if entry.is_meta:
                yield f"> [hidden] {first_line(part.text)}"
            else:
                lead = "> [summary] " if entry.is_compact_summary else "> "
                yield lead + part.text.rstrip().replace("\n", "\n> ")
        elif isinstance(part, ImagePart | DocumentPart):
            yield f"> {_media(part)}"


def changed_calls(keyed: Iterable[Entry]) -> dict[CallId, CallChanged]:
    """Calls that ran with another input than the model wrote; the last change counts."""
    events = (entry.event for entry in keyed if isinstance(entry, EventEntry))
    return {event.call_id: event for event in events if isinstance(event, CallChanged)}


def ran_as(call: ToolCallPart, changed: Mapping[CallId, CallChanged]) -> str:
    """What ran in place of what the model wrote; empty: the same."""
    event = changed.get(call.id)
    if event is None:
        return ""
    who = "a hook" if event.by == "hook" else "whoever allowed it"
    return f"{who} made it {call.name}({call_words(replace(call, arguments=event.arguments))})"


def _plain_reply(part: Part, changed: Mapping[CallId, CallChanged], record: CallRecord) -> str:
    if isinstance(part, TextPart):
        return part.text.strip("\n")
    if isinstance(part, ToolCallPart):
        call = meant_call(part)
        ran = ran_as(call, changed)
        lines = [f"* {call.name}({call_words(call)})", *([f"   {ran}"] if ran else [])]
        return "\n".join([*lines, *(_plain_piece(piece) for piece in record.of(call))])
    if isinstance(part, ReasoningPart) and part.text.strip():
        return f"~ {first_line(part.text)}"
    return ""


def _plain_piece(piece: Piece) -> str:
    most = _RESULT_LINES if piece.kind == "words" else _DIFF_LINES
    return _clipped(piece.text, failed=piece.failed, most=most)


def _clipped(text: str, *, failed: bool, most: int = _RESULT_LINES) -> str:
    lines = text.rstrip("\n").splitlines() or ["(no output)"]
    shown = [f"   {line}" for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"   … {len(lines) - most} more lines")
    if failed:
        shown[0] = f" ! {shown[0][3:]}"
    return "\n".join(shown)


def _note(entry: SystemEntry) -> str:
    if entry.subtype == BOUNDARY:
        return "compacted: the model's view starts anew here"
    if entry.subtype == "away_summary":
        return f"recap: {entry.content}"
    if entry.subtype in {"api_error", "interrupted"}:
        return f"{entry.subtype.replace('_', ' ')}: {entry.content}".rstrip(": ")
    return ""


def _markdown_blocks(
    entry: Entry, changed: Mapping[CallId, CallChanged], record: CallRecord
) -> Iterator[tuple[str, str]]:
    if isinstance(entry, UserEntry):
        for part in parts_of(entry.message):
            if isinstance(part, ToolResultPart):
                if not record.is_told(part):
                    yield "Assistant", fenced(result_text(part))
            elif isinstance(part, TextPart) and part.text.strip() and not entry.is_meta:
                yield ("Summary" if entry.is_compact_summary else "User"), part.text.strip("\n")
            elif isinstance(part, ImagePart | DocumentPart):
                yield "User", _media(part)
    elif isinstance(entry, AssistantEntry):
        for part in entry.message.content:
            if isinstance(part, TextPart) and part.text.strip():
                yield "Assistant", part.text.strip("\n")
            elif isinstance(part, ToolCallPart):
                call = meant_call(part)
                ran = ran_as(call, changed)
                words = f" {inline(call_words(call))}" if call_words(call) else ""
                yield "Assistant", f"**{call.name}**{words}" + (f", {inline(ran)}" if ran else "")
                for piece in record.of(call):
                    yield "Assistant", _markdown_piece(piece)
    elif isinstance(entry, SystemEntry) and _note(entry):
        yield "Note", _note(entry)


def _markdown_piece(piece: Piece) -> str:
    match piece.kind:
        case "diff":
            return fenced(piece.text, "diff")
        case "list":
            return "\n".join(f"- {line}" for line in piece.text.splitlines())
        case "question":
            return "\n".join(f"> {line}  " for line in piece.text.splitlines())
        case _:
            return fenced(piece.text)


def fenced(text: str, language: str = "text") -> str:
    """A code block around any text."""
    mark = "```"
    while mark in text:
        mark += "`"
    body = text.rstrip("\n")
    return f"{mark}{language}\n{body}\n{mark}"


def inline(text: str) -> str:
    """Code inside a line, around any text."""
    mark = "`"
    while mark in text:
        mark += "`"
    return f"{mark} {text} {mark}" if "`" in text else f"`{text}`"


def _media(part: ImagePart | DocumentPart) -> str:
    kind = "image" if isinstance(part, ImagePart) else "document"
    return f"[{kind} {part.source.media_type}]"
