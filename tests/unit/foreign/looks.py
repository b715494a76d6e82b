"""What tests look at in a transcript."""

from clew.foreign.session import ForeignTranscript
from clew.protocol.entries import AssistantEntry, ChainEntry, SystemEntry, UserEntry
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart, parts_of, result_text, text_of


def prompts(transcript: ForeignTranscript) -> list[str]:
    """What a person typed."""
    found: list[str] = []
    for entry in transcript.entries:
        if not isinstance(entry, UserEntry) or entry.is_meta or entry.is_compact_summary or entry.is_sidechain:
            continue
        if any(isinstance(part, TextPart) for part in parts_of(entry.message)):
            found.append(text_of(entry.message.content))
    return found


def hidden(transcript: ForeignTranscript) -> list[str]:
    return [text_of(e.message.content) for e in transcript.entries if isinstance(e, UserEntry) and e.is_meta]


def said(transcript: ForeignTranscript) -> list[str]:
    return [
        part.text
        for entry in transcript.entries
        if isinstance(entry, AssistantEntry)
        for part in entry.message.content
        if isinstance(part, TextPart)
    ]


def calls(transcript: ForeignTranscript) -> list[ToolCallPart]:
    return [
        part
        for entry in transcript.entries
        if isinstance(entry, AssistantEntry)
        for part in entry.message.content
        if isinstance(part, ToolCallPart)
    ]


def results(transcript: ForeignTranscript) -> list[tuple[str, str, bool]]:
    return [
        (part.call_id, result_text(part), part.is_error)
        for entry in transcript.entries
        if isinstance(entry, UserEntry)
        for part in parts_of(entry.message)
        if isinstance(part, ToolResultPart)
    ]


def notes(transcript: ForeignTranscript) -> list[str]:
    return [entry.subtype for entry in transcript.entries if isinstance(entry, SystemEntry)]


def chain_is_whole(transcript: ForeignTranscript) -> bool:
    """Every parent stands before its child, and ids are unique. Sub-agents of the same file may hang anywhere."""
    seen: set[str] = {e.uuid for e in transcript.entries if isinstance(e, ChainEntry) and e.is_sidechain}
    for entry in transcript.entries:
        if isinstance(entry, ChainEntry) and not entry.is_sidechain:
            if entry.uuid in seen or (entry.parent_uuid is not None and entry.parent_uuid not in seen):
                return False
            seen.add(entry.uuid)
    return True
