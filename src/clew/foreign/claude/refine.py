"""Claude-shaped entries made plain: wrappers off what the user typed, what no person typed marked, our tool names."""

import msgspec

from clew.foreign.claude.queue import as_message, chain_fields
from clew.foreign.tool_names import translate
from clew.foreign.user_text import UserText, read_user_text
from clew.protocol.entries import AssistantEntry, AttachmentEntry, ChainEntry, Entry, SystemEntry, UserEntry
from clew.protocol.messages import Part, TextPart, ToolCallPart, UserMessage


def refine(entry: Entry) -> Entry:
    """Take wrappers off what the user typed, mark what no person typed, and use our tool names."""
    if isinstance(entry, AttachmentEntry):
        entry = as_message(entry)
    if isinstance(entry, UserEntry):
        return _refine_user(entry)
    if isinstance(entry, AssistantEntry) and any(_is_agent_call(part) for part in entry.message.content):
        parts = tuple(_our_call(part) for part in entry.message.content)
        return msgspec.structs.replace(entry, message=msgspec.structs.replace(entry.message, content=parts))
    return entry


def _is_agent_call(part: Part) -> bool:
    return isinstance(part, ToolCallPart) and part.name == "Agent"


def _our_call(part: Part) -> Part:
    if not isinstance(part, ToolCallPart):
        return part
    call = translate(part.name, part.arguments)[0]
    if call.name == part.name:
        return part
    data = {"foreign": {"name": part.name, "arguments": part.arguments}}
    return msgspec.structs.replace(part, name=call.name, arguments=call.arguments, data=data)


def _refine_user(entry: UserEntry) -> Entry:
    content = entry.message.content
    if entry.is_meta or entry.is_compact_summary:
        return entry
    if isinstance(content, str):
        reading = read_user_text(content)
        if reading.kind == "typed" and reading.text is content:
            return entry
        return _with_reading(entry, reading, reading.text)
    texts = [part.text for part in content if isinstance(part, TextPart)]
    if not texts:
        return entry
    readings = [read_user_text(text) for text in texts]
    if all(reading.kind == "typed" and reading.text is text for reading, text in zip(readings, texts, strict=True)):
        return entry
    typed = [reading for reading in readings if reading.kind == "typed"]
    others = tuple(part for part in content if not isinstance(part, TextPart))
    if typed or others:
        parts = (*(TextPart(text=reading.text) for reading in typed), *others)
        return msgspec.structs.replace(entry, message=UserMessage(content=parts))
    return _with_reading(entry, readings[0], "\n".join(reading.text for reading in readings))


def _with_reading(entry: UserEntry, reading: UserText, text: str) -> Entry:
    if reading.kind == "interrupted":
        return _as_system(entry, "interrupted", text)
    message = UserMessage(content=text)
    if reading.kind == "summary":
        return msgspec.structs.replace(entry, message=message, is_compact_summary=True)
    return msgspec.structs.replace(entry, message=message, is_meta=reading.kind == "meta")


def _as_system(entry: ChainEntry, subtype: str, content: str) -> SystemEntry:
    return SystemEntry(
        **chain_fields(entry),
        subtype=subtype,
        content=content,
    )
