"""What the wires need of a history: the part of it that this target may see, results as words, ids it accepts."""

import hashlib
from collections.abc import Sequence
from functools import partial

from clew.llm.models.target import Target
from clew.protocol.history import valid_history
from clew.protocol.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    result_text,
)

NO_OUTPUT = "(no output)"


def history_for(messages: Sequence[Message], target: Target) -> tuple[Message, ...]:
    """The history as this target gets it; what is left is only to translate it."""
    return valid_history(messages, keeps=partial(_may_see, target))


def _may_see(target: Target, reply: AssistantMessage, part: Part) -> bool:
    """Reasoning goes back only to the model that wrote it: signatures and encrypted content are bound to it."""
    if reply.model not in (target.name, target.model):
        return False
    if target.dialect != "gemini" and not _is_followed(reply, part):
        return False  # an interrupted thought; with Gemini a signature may stand last, for the text before it
    if isinstance(part, RedactedReasoningPart):
        return target.dialect == "anthropic"
    return isinstance(part, ReasoningPart) and part.provider == target.provider and _has_a_place(part, target)


def _is_followed(reply: AssistantMessage, part: Part) -> bool:
    """Whether words or a call come after it in its reply."""
    for other in reversed(reply.content):
        if other is part:
            return False
        if isinstance(other, ToolCallPart) or (isinstance(other, TextPart) and other.text.strip()):
            return True
    return False


def _has_a_place(part: ReasoningPart, target: Target) -> bool:
    """Whether the dialect can carry it: signed thoughts, opaque data, or a field of its own."""
    match target.dialect:
        case "anthropic":
            return bool(part.signature)
        case "gemini" | "openai-responses":
            return part.data is not None
        case "openai-chat":
            return bool(target.quirks.echo_reasoning)


def result_parts(result: ToolResultPart) -> tuple[str, list[ImagePart | DocumentPart]]:
    """A tool result as words, never empty, and the media that came with them."""
    if isinstance(result.content, str):
        return (result.content if result.content.strip() else NO_OUTPUT), []
    media = [part for part in result.content if isinstance(part, ImagePart | DocumentPart)]
    text = result_text(result)
    return (text if text.strip() else "(see attachment)" if media else NO_OUTPUT), media


def wire_id(call_id: str, *, length: int = 0) -> str:
    """The id if the API takes it, else one derived from it: the same on every request."""
    if length:
        if len(call_id) == length and call_id.isascii() and call_id.isalnum():
            return call_id
        return hashlib.blake2b(call_id.encode("utf-8", "replace"), digest_size=16).hexdigest()[:length]
    if 0 < len(call_id) <= 64 and call_id.isascii() and call_id.replace("_", "").replace("-", "").isalnum():
        return call_id
    return "call_" + hashlib.blake2b(call_id.encode("utf-8", "replace"), digest_size=12).hexdigest()
