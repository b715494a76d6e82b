"""What a model answers, piece by piece, in no provider's dialect.

Order: (StillWaiting | UsageSeen | Retrying)* ReplyStarted (TextChunk | ReasoningChunk | ArgumentsChunk | UsageSeen |
PartDone)* ReplyDone. A failure raises an `LLMError` instead of ReplyDone; parts seen before it belong to a broken
attempt.

Parts are counted from 0 in the order in which they first appear. The chunks of a part carry its number, and so does its
PartDone, which may come after that of a later part: tool calls can grow side by side.
"""

from collections.abc import AsyncIterator

from msgspec import Struct

from clew.llm.errors import StreamBroken
from clew.protocol.messages import Part
from clew.protocol.usage import Usage


class Retrying(Struct, frozen=True, kw_only=True):
    """The request failed in a way that may pass; the next attempt starts after `delay_s`.

    A usage seen since the last Retrying is what the failed attempt cost.
    """

    attempt: int
    max_attempts: int
    delay_s: float
    reason: str


class StillWaiting(Struct, frozen=True, kw_only=True):
    """Nothing of the reply has come yet, so long after this attempt began."""

    seconds: float


class ReplyStarted(Struct, frozen=True, kw_only=True):
    """The provider accepted the request."""

    message_id: str
    """The provider's own, "" when it sends none. Servers repeat it: it is data, never an identity."""
    model: str
    request_id: str = ""


class TextChunk(Struct, frozen=True, kw_only=True):
    """More words."""

    text: str
    part: int = 0


class ReasoningChunk(Struct, frozen=True, kw_only=True):
    """More reasoning."""

    text: str
    part: int = 0


class ArgumentsChunk(Struct, frozen=True, kw_only=True):
    """More of a tool call's arguments, as the model writes them. The first may be empty: a call has begun."""

    part: int
    name: str
    text: str
    call_id: str = ""
    """As the provider calls the call; empty while it has not said."""


class PartDone(Struct, frozen=True, kw_only=True):
    """A part is whole and will not change."""

    part: Part
    index: int = 0


class UsageSeen(Struct, frozen=True, kw_only=True):
    """What the attempt under way has used so far; each one replaces the one before. ReplyDone has the last word."""

    usage: Usage


class ReplyDone(Struct, frozen=True, kw_only=True):
    """The reply is complete. `usage` is None when the provider reported none."""

    stop_reason: str
    """end_turn, tool_use, max_tokens, stop_sequence, refusal, content_filter, or the provider's own word."""
    usage: Usage | None
    model: str = ""


ReplyEvent = (
    Retrying
    | StillWaiting
    | ReplyStarted
    | TextChunk
    | ReasoningChunk
    | ArgumentsChunk
    | PartDone
    | UsageSeen
    | ReplyDone
)


class Reply(Struct, frozen=True, kw_only=True):
    """A whole reply."""

    message_id: str
    model: str
    parts: tuple[Part, ...]
    stop_reason: str
    usage: Usage | None
    request_id: str = ""


async def collected(events: AsyncIterator[ReplyEvent]) -> Reply:
    """The whole reply that a stream came to."""
    return reply_of([event async for event in events])


def reply_of(events: list[ReplyEvent]) -> Reply:
    """The whole reply that some events came to, its parts in the order of their numbers."""
    started = next((event for event in events if isinstance(event, ReplyStarted)), None)
    done = next((event for event in events if isinstance(event, ReplyDone)), None)
    if started is None or done is None:
        raise StreamBroken("the stream ended before the reply was complete")
    parts = sorted((event for event in events if isinstance(event, PartDone)), key=lambda event: event.index)
    return Reply(
        message_id=started.message_id,
        model=started.model,
        parts=tuple(event.part for event in parts),
        stop_reason=done.stop_reason,
        usage=done.usage,
        request_id=started.request_id,
    )
