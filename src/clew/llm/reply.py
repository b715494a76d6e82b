"""What a model answers, piece by piece, in no provider's dialect.

Order: Retrying* ReplyStarted (TextChunk | ReasoningChunk | PartDone)* ReplyDone. A failure raises an `LLMError`
instead of ReplyDone; parts seen before it belong to a broken attempt.
"""

from msgspec import Struct

from clew.protocol.ids import MessageId
from clew.protocol.messages import Part
from clew.protocol.usage import Usage


class Retrying(Struct, frozen=True, kw_only=True):
    """The request failed in a way that may pass; the next attempt starts after `delay_s`."""

    attempt: int
    max_attempts: int
    delay_s: float
    reason: str


class ReplyStarted(Struct, frozen=True, kw_only=True):
    """The provider accepted the request."""

    message_id: MessageId
    model: str
    request_id: str = ""


class TextChunk(Struct, frozen=True, kw_only=True):
    """More words."""

    text: str


class ReasoningChunk(Struct, frozen=True, kw_only=True):
    """More reasoning."""

    text: str


class PartDone(Struct, frozen=True, kw_only=True):
    """A part is whole and will not change."""

    part: Part


class ReplyDone(Struct, frozen=True, kw_only=True):
    """The reply is complete. `usage` is None when the provider reported none."""

    stop_reason: str
    """end_turn, tool_use, max_tokens, stop_sequence, refusal, content_filter, or the provider's own word."""
    usage: Usage | None
    model: str = ""


ReplyEvent = Retrying | ReplyStarted | TextChunk | ReasoningChunk | PartDone | ReplyDone


class Reply(Struct, frozen=True, kw_only=True):
    """A whole reply, as a non-streaming request gives it."""

    message_id: MessageId
    model: str
    parts: tuple[Part, ...]
    stop_reason: str
    usage: Usage | None
    request_id: str = ""
