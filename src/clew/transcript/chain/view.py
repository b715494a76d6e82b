"""What the model sees of a session: the one function behind live, resumed, branched and agent views."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from clew.protocol.entries import (
    AssistantEntry,
    AttachmentEntry,
    ContentReplacementEntry,
    Entry,
    EventEntry,
    UserEntry,
)
from clew.protocol.event_kinds.context import TrimmedPart
from clew.protocol.events import ViewTrimmed
from clew.protocol.ids import CallId, EntryId
from clew.protocol.messages import AssistantMessage, Message, Part, TextPart, ToolResultPart, UserMessage
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import undone_by


def view(entries: Sequence[Entry], *, session_id: str = "", sidechain: bool = False) -> tuple[Message, ...]:
    """The messages of a session from its entries in file order; `sidechain` for a sub-agent's own file."""
    chain = build_chain(entries, session_id=session_id, sidechain=sidechain)
    return messages_of(chain.entries, replacements_of(entries))


class Replacements:
    """The texts that stand for tool results and media in the view. The log keeps what they stand for."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._frozen: dict[CallId, str] = {}
        self._beside_media: set[CallId] = set()
        self._trims: dict[EntryId, ViewTrimmed] = {}
        self.results: dict[CallId, str] = {}
        self.media: dict[EntryId, list[TrimmedPart]] = {}
        for entry in entries:
            self.note(entry)

    @property
    def cleared(self) -> frozenset[CallId]:
        """The calls whose results left the view by a trim that stands."""
        return frozenset(call_id for event in self._trims.values() for call_id in event.results)

    def keeps_media(self, call_id: CallId) -> bool:
        """Whether what stands for a result stands for its words alone."""
        if call_id not in self._beside_media:
            return False
        return not any(call_id in event.results for event in self._trims.values())

    def note(self, entry: Entry) -> bool:
        """Take one more entry; whether it changed what stands for something."""
        if isinstance(entry, ContentReplacementEntry):
            if entry.call_id in self._frozen:
                return False  # the first one of a call counts: it was sent
            self._frozen[entry.call_id] = entry.replacement
            if entry.keeps_media:
                self._beside_media.add(entry.call_id)
            self.results.setdefault(entry.call_id, entry.replacement)
            return True
        if isinstance(entry, EventEntry):
            if isinstance(entry.event, ViewTrimmed):
                self._trims[entry.event.entry_id] = entry.event
                self._trim(entry.event)
                return True
            if (undone := undone_by(entry)) is not None and undone in self._trims:
                del self._trims[undone]
                self._recompute()
                return True
        return False

    def _trim(self, event: ViewTrimmed) -> None:
        self.results.update(event.results)
        for part in event.media:
            self.media.setdefault(part.entry_id, []).append(part)

    def _recompute(self) -> None:
        self.results, self.media = dict(self._frozen), {}
        for event in self._trims.values():
            self._trim(event)


def replacements_of(entries: Iterable[Entry]) -> Replacements:
    """What stands for tool results and media, from the entries in file order."""
    return Replacements(entries)


def messages_of(chain: Iterable[Entry], replacements: Replacements) -> tuple[Message, ...]:
    """Messages of a chain: parts of one reply joined, local errors and the program's notes left out."""
    messages: list[Message] = []
    for entry in chain:
        if isinstance(entry, UserEntry):
            messages.append(UserMessage(content=_user_parts(entry, replacements)))
        elif isinstance(entry, AttachmentEntry):
            text = attachment_text(entry.attachment)
            if text:
                messages.append(UserMessage(content=(TextPart(text=text),)))
        elif isinstance(entry, AssistantEntry) and not entry.is_api_error_message:
            last = messages[-1] if messages else None
            if isinstance(last, AssistantMessage) and last.id == entry.message.id:
                messages[-1] = _joined(last, entry.message)
            else:
                messages.append(entry.message)
    return tuple(messages)


def replaced_entry(entry: UserEntry, replacements: Replacements) -> UserEntry:
    """The entry with the words that stand for its results and media, for formats that know no replacements."""
    if isinstance(entry.message.content, str):
        return entry
    parts = _user_parts(entry, replacements)
    if parts == entry.message.content:
        return entry
    return msgspec.structs.replace(entry, message=UserMessage(content=parts))


def attachment_text(attachment: Any) -> str:
    """The words of an attachment; a placeholder when only its name is known (the file may be gone)."""
    if not isinstance(attachment, dict):
        return ""
    fields = cast("dict[str, Any]", attachment)
    text = fields.get("text")
    if isinstance(text, str):
        return text
    for key in ("path", "filename", "displayPath"):
        name = fields.get(key)
        if isinstance(name, str) and name:
            return f"[attachment {name} is not available]"
    return ""


def _user_parts(entry: UserEntry, replacements: Replacements) -> tuple[Part, ...]:
    # Always parts, never bare text: a second prompt can then join without changing the bytes of the first.
    content = entry.message.content
    if isinstance(content, str):
        return (TextPart(text=content),)
    if trimmed := replacements.media.get(entry.uuid):
        content = _without_media(content, trimmed)
    if not replacements.results:
        return content
    return tuple(_replaced(part, replacements) for part in content)


def _replaced(part: Part, replacements: Replacements) -> Part:
    if not isinstance(part, ToolResultPart) or part.call_id not in replacements.results:
        return part
    text = replacements.results[part.call_id]
    if isinstance(part.content, str) or not replacements.keeps_media(part.call_id):
        return msgspec.structs.replace(part, content=text)
    return msgspec.structs.replace(part, content=(TextPart(text=text), *part.content[1:]))


def _without_media(parts: tuple[Part, ...], trimmed: Iterable[TrimmedPart]) -> tuple[Part, ...]:
    """The parts with words in the place of some pictures and documents; places that do not exist mean nothing."""
    changed = list(parts)
    for item in trimmed:
        if not 0 <= item.part < len(changed):
            continue
        part = changed[item.part]
        if item.nested is None:
            changed[item.part] = TextPart(text=item.text)
        elif isinstance(part, ToolResultPart) and not isinstance(part.content, str):
            inner = list(part.content)
            if 0 <= item.nested < len(inner):
                inner[item.nested] = TextPart(text=item.text)
                changed[item.part] = msgspec.structs.replace(part, content=tuple(inner))
    return tuple(changed)


def _joined(first: AssistantMessage, second: AssistantMessage) -> AssistantMessage:
    return msgspec.structs.replace(
        first,
        content=first.content + second.content,
        stop_reason=second.stop_reason or first.stop_reason,
        stop_sequence=second.stop_sequence or first.stop_sequence,
        usage=second.usage or first.usage,
    )
