"""What every wire offers, and what all need: the history that a target may see, ids that it accepts, token counts."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from clew.llm.errors import BadResponse, StreamBroken
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import PartDone, ReasoningChunk, ReplyEvent, TextChunk, UsageSeen
from clew.llm.request import ModelRequest
from clew.protocol.history import valid_history
from clew.protocol.ids import CallId
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
from clew.protocol.usage import Usage

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


class UsageTally:
    """Collects what a provider says about one reply. Nothing said: no usage, which is not zero."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._told: Usage | None = None

    def news(self) -> list[UsageSeen]:
        """What became known since the last time."""
        usage = self.usage
        if usage is None or usage == self._told:
            return []
        self._told = usage
        return [UsageSeen(usage=usage)]

    @property
    def usage(self) -> Usage | None:
        """The four kinds, none contained in another, none negative."""
        if not self._counts:
            return None
        count = self._counts.get
        read, written = count("read", 0), count("written", 0)
        fresh = count("input", 0)
        if "prompt" in self._counts:  # these providers count cached tokens inside the prompt
            fresh = max(0, self._counts["prompt"] - read - written)
        return Usage(
            input_tokens=fresh,
            output_tokens=count("output", 0) + count("thoughts", 0),
            cache_creation_input_tokens=written,
            cache_read_input_tokens=read,
        )

    def anthropic(self, usage: Json) -> None:
        """Uncached input is given apart."""
        self._set("input", usage.get("input_tokens"))
        self._set("output", usage.get("output_tokens"))
        self._set("written", usage.get("cache_creation_input_tokens"))
        self._set("read", usage.get("cache_read_input_tokens"))

    def chat(self, usage: Json) -> None:
        """Cached tokens are part of the prompt, under one of three names."""
        details = obj(usage.get("prompt_tokens_details"))
        self._set("prompt", usage.get("prompt_tokens"))
        self._set("output", usage.get("completion_tokens"))
        for value in (usage.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), details.get("cached_tokens")):
            self._set("read", value)
        self._set("written", details.get("cache_write_tokens"))

    def responses(self, usage: Json) -> None:
        """As chat, with other names."""
        details = obj(usage.get("input_tokens_details"))
        self._set("prompt", usage.get("input_tokens"))
        self._set("output", usage.get("output_tokens"))
        self._set("read", details.get("cached_tokens"))
        self._set("written", details.get("cache_write_tokens"))

    def gemini(self, usage: Json) -> None:
        """Cached tokens are part of the prompt; thoughts are output, counted apart from the candidates."""
        self._set("prompt", usage.get("promptTokenCount"))
        self._set("read", usage.get("cachedContentTokenCount"))
        self._set("output", usage.get("candidatesTokenCount"))
        self._set("thoughts", usage.get("thoughtsTokenCount"))

    def _set(self, name: str, value: Any) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._counts[name] = max(0, int(value))


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
