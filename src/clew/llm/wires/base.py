"""What every wire offers, and the few things all of them need."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from clew.llm.errors import BadResponse, StreamBroken
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import PartDone, ReasoningChunk, ReplyEvent, TextChunk
from clew.llm.request import ModelRequest
from clew.protocol.ids import CallId
from clew.protocol.messages import Part, ReasoningPart, TextPart

Json = dict[str, Any]
NOT_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What decoding raises: no JSON, no text, or nested deeper than the interpreter can follow."""
MAX_ARGUMENT_DEPTH = 100
"""Deeper arguments could be read here and no longer written to the log, which is called from further down."""


class HttpRequest(Struct, frozen=True, kw_only=True):
    """A request as bytes. Credentials are not in it; the transport adds them for the configured host."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Decoder(Protocol):
    """Turns the events of one stream into reply events, ReplyStarted first and ReplyDone last."""

    @property
    def done(self) -> bool:
        """The dialect's own end was seen; nothing of interest can follow."""
        ...

    def feed(self, event: SseEvent) -> list[ReplyEvent]:
        """What this event adds. Raises an LLMError when the provider reports a failure inside the stream."""
        ...

    def finish(self) -> list[ReplyEvent]:
        """What is left when the bytes end. Raises StreamBroken when the reply is not whole."""
        ...


class Wire(Protocol):
    """A dialect, as its module offers it."""

    def encode(self, request: ModelRequest, target: Target, *, stream: bool) -> HttpRequest:
        """The request in this dialect."""
        ...

    def decoder(self, target: Target) -> Decoder:
        """A decoder for one stream."""
        ...

    def decode(self, body: bytes, target: Target) -> list[ReplyEvent]:
        """The events of a reply that came in one piece."""
        ...


def to_json(value: Any) -> bytes:
    """Compact UTF-8. Lone surrogates, which no API takes, become question marks."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in cast(Json, value).items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in cast(list[Any], value)]
    return value


def event_json(event: SseEvent) -> Json:
    """The event's data as an object."""
    try:
        value = msgspec.json.decode(event.data)
    except NOT_JSON:
        raise StreamBroken("the stream sent an event that is not JSON") from None
    if not isinstance(value, dict):
        raise StreamBroken("the stream sent an event that is not a JSON object")
    return cast(Json, value)


def body_json(body: bytes) -> Json:
    """The body of a whole reply as an object."""
    try:
        value = msgspec.json.decode(body)
    except NOT_JSON:
        raise BadResponse("the server answered with something that is not JSON") from None
    if not isinstance(value, dict):
        raise BadResponse("the server answered with JSON that is not an object")
    return cast(Json, value)


def obj(value: Any) -> Json:
    """The value if it is an object, else an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def items(value: Any) -> list[Json]:
    """The objects of a list; anything else counts as none."""
    if not isinstance(value, list):
        return []
    return [cast(Json, item) for item in cast(list[Any], value) if isinstance(item, dict)]


def string(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def parse_arguments(raw: Any) -> tuple[Json, str | None]:
    """The arguments of a call, and the original text when that is not a JSON object. Nothing counts as {}."""
    if isinstance(raw, dict):
        return ({}, "(nested too deeply)") if _is_deep(raw) else (obj(raw), None)
    text = string(raw)
    if not text.strip():
        return {}, None
    try:
        value = msgspec.json.decode(text)
        if isinstance(value, str):  # some servers encode the object twice
            value = msgspec.json.decode(value)
    except NOT_JSON:
        return {}, text
    return (obj(value), None) if isinstance(value, dict) and not _is_deep(value) else ({}, text)


def _is_deep(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_ARGUMENT_DEPTH):
        dicts = [child for item in level if isinstance(item, dict) for child in cast(Json, item).values()]
        level = dicts + [child for item in level if isinstance(item, list) for child in cast(list[Any], item)]
        if not level:
            return False
    return True


def fresh_id(prefix: str) -> str:
    """A new identifier."""
    return f"{prefix}_{os.urandom(12).hex()}"


def call_id(given: str) -> CallId:
    """The id the server gave a call, or a new one where it gave none. Making it distinct is not a wire's business."""
    return CallId(given or fresh_id("call"))


def stop_with_calls(stop_reason: str, *, called: bool) -> str:
    """Dialects that stop the same way with and without calls: say which it was."""
    return "tool_use" if called and stop_reason == "end_turn" else stop_reason


def parts_at_once(parts: Iterable[Part]) -> Iterator[ReplyEvent]:
    """Parts that came whole, as a stream would tell them."""
    for index, part in enumerate(parts):
        if isinstance(part, TextPart):
            yield TextChunk(text=part.text, part=index)
        elif isinstance(part, ReasoningPart) and part.text:
            yield ReasoningChunk(text=part.text, part=index)
        yield PartDone(part=part, index=index)
