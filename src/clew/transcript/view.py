"""What the model sees of a session: the one function behind live, resumed, branched and agent views."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from clew.protocol.entries import AssistantEntry, AttachmentEntry, ContentReplacementEntry, Entry, UserEntry
from clew.protocol.ids import CallId
from clew.protocol.messages import AssistantMessage, Message, Part, TextPart, ToolResultPart, UserMessage
from clew.transcript.chain import build_chain


def view(entries: Sequence[Entry], *, session_id: str = "", sidechain: bool = False) -> tuple[Message, ...]:
    """The messages of a session from its entries in file order; `sidechain` for a sub-agent's own file."""
    chain = build_chain(entries, session_id=session_id, sidechain=sidechain)
    return messages_of(chain.entries, replacements_of(entries))


def replacements_of(entries: Iterable[Entry]) -> dict[CallId, str]:
    """The frozen texts that stand for tool results. The first one of a call counts: it was sent."""
    found: dict[CallId, str] = {}
    for entry in entries:
        if isinstance(entry, ContentReplacementEntry):
            found.setdefault(entry.call_id, entry.replacement)
    return found


def messages_of(chain: Iterable[Entry], replacements: Mapping[CallId, str]) -> tuple[Message, ...]:
    """Messages of a chain: parts of one reply joined, local errors and the program's notes left out."""
    messages: list[Message] = []
    for entry in chain:
        if isinstance(entry, UserEntry):
            messages.append(UserMessage(content=_user_parts(entry.message, replacements)))
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


def _user_parts(message: UserMessage, replacements: Mapping[CallId, str]) -> tuple[Part, ...]:
    # Always parts, never bare text: a second prompt can then join without changing the bytes of the first.
    if isinstance(message.content, str):
        return (TextPart(text=message.content),)
    if not replacements:
        return message.content
    return tuple(_replaced(part, replacements) for part in message.content)


def _replaced(part: Part, replacements: Mapping[CallId, str]) -> Part:
    if isinstance(part, ToolResultPart) and part.call_id in replacements:
        return msgspec.structs.replace(part, content=replacements[part.call_id])
    return part


def _joined(first: AssistantMessage, second: AssistantMessage) -> AssistantMessage:
    return msgspec.structs.replace(
        first,
        content=first.content + second.content,
        stop_reason=second.stop_reason or first.stop_reason,
        stop_sequence=second.stop_sequence or first.stop_sequence,
        usage=second.usage or first.usage,
    )
