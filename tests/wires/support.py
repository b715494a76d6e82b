"""Targets, requests and servers that the wire tests share."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from clew.config.schema import Provider
from clew.llm.errors import LLMError
from clew.llm.http.sse import SseEvent
from clew.llm.model import Model
from clew.llm.models.connect import target_of
from clew.llm.models.target import Target
from clew.llm.remote import RemoteModel
from clew.llm.reply import PartDone, ReplyDone, ReplyEvent
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy
from clew.llm.wires.base import Decoder
from clew.llm.wires.registry import wire_for
from clew.protocol.ids import CallId, MessageId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import (
    AssistantMessage,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)
from clew.protocol.usage import Usage

KEY = "sk-secret-0123456789abcdef"
KEYS = {
    "ANTHROPIC_API_KEY": KEY,
    "OPENAI_API_KEY": KEY,
    "GEMINI_API_KEY": KEY,
    "OPENROUTER_API_KEY": KEY,
    "DEEPSEEK_API_KEY": KEY,
    "MISTRAL_API_KEY": KEY,
    "MOONSHOT_API_KEY": KEY,
    "DASHSCOPE_API_KEY": KEY,
    "GROQ_API_KEY": KEY,
    "ZAI_API_KEY": KEY,
}
MODELS = {
    "anthropic": "anthropic/claude-opus-5-5",
    "openai-chat": "openai/gpt-6.1-sol",
    "openai-responses": "openai/gpt-6.1-sol",
    "gemini": "gemini/gemini-3.8-flash",
}
DIALECTS = tuple(MODELS)
READ = ToolSpec(
    name="Read",
    description="Read a file.",
    schema={"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
)


def target(dialect: str, base_url: str = "http://127.0.0.1:9", model: str = "", **changes: Any) -> Target:
    """A target of one dialect, by default its vendor's model."""
    name = model or MODELS[dialect]
    provider = name.partition("/")[0]
    override = Provider(base_url=base_url, dialect=msgspec.convert(dialect, type=Any))
    found = target_of(name, providers={provider: override}, env=KEYS)
    return msgspec.structs.replace(found, **changes) if changes else found


def compatible(provider: str, model: str) -> Target:
    """A target of a built-in row as it is."""
    return target_of(f"{provider}/{model}", providers={}, env=KEYS)


class Sleeps:
    """A sleep that only takes notes."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def remote(
    dialect: str,
    url: str,
    *,
    sleep: Callable[[float], Any] | None = None,
    policy: RetryPolicy | None = None,
    random: Callable[[], float] = lambda: 0.0,
    now_s: Callable[[], float] = lambda: 0.0,
) -> RemoteModel:
    """A model whose server is at this address and whose waits take no time."""
    found = target(dialect, base_url=url)
    return RemoteModel(found, policy or RetryPolicy(), sleep=sleep or Sleeps(), random=random, now_s=now_s)


def ask(*messages: Message | str, **fields: Any) -> ModelRequest:
    """A request; strings are what the user says."""
    history = tuple(UserMessage(content=m) if isinstance(m, str) else m for m in messages)
    return ModelRequest(**({"system": ("You help.",), "messages": history or (UserMessage(content="hi"),)} | fields))


def said(*parts: Part | str, model: str = "") -> AssistantMessage:
    """A reply; strings are text."""
    content = tuple(TextPart(text=p) if isinstance(p, str) else p for p in parts)
    return AssistantMessage(id=MessageId("msg_x"), model=model, content=content)


def call(call_id: str, name: str = "Read", raw: str | None = None, **arguments: Any) -> ToolCallPart:
    return ToolCallPart(id=CallId(call_id), name=name, arguments=arguments, raw_arguments=raw)


def result(call_id: str, content: Any = "ok", *, is_error: bool = False) -> ToolResultPart:
    return ToolResultPart(call_id=CallId(call_id), content=content, is_error=is_error)


def body_of(request: ModelRequest, where: Target, *, stream: bool = True) -> dict[str, Any]:
    """The encoded request as data."""
    encoded = wire_for(where.dialect).encode(request, where, stream=stream)
    return msgspec.json.decode(encoded.body)


def sse(*events: Any) -> list[SseEvent]:
    """Events as the decoders get them; a string is literal data."""
    return [SseEvent("", e.encode() if isinstance(e, str) else msgspec.json.encode(e)) for e in events]


def decoded(where: Target, events: Iterable[SseEvent]) -> list[ReplyEvent]:
    """All reply events of a stream."""
    reader: Decoder = wire_for(where.dialect).decoder(where)
    found: list[ReplyEvent] = []
    for event in events:
        found += reader.feed(event)
    return found + reader.finish()


def parts_in(events: Iterable[ReplyEvent]) -> list[Part]:
    return [event.part for event in events if isinstance(event, PartDone)]


def usage_in(events: Iterable[ReplyEvent]) -> Usage | None:
    return next(event for event in events if isinstance(event, ReplyDone)).usage


async def collect(model: Model, request: ModelRequest, into: list[ReplyEvent] | None = None) -> list[ReplyEvent]:
    """All events of a stream; with `into`, also those before a failure."""
    events: list[ReplyEvent] = [] if into is None else into
    async for event in model.stream(request):
        events.append(event)
    return events


async def failure(model: Model, request: ModelRequest) -> LLMError:
    """The error a stream ends with."""
    try:
        await collect(model, request)
    except LLMError as error:
        return error
    raise AssertionError("the request did not fail")


def without(value: Any, key: str) -> Any:
    """JSON data without any such key."""
    if isinstance(value, Mapping):
        return {name: without(item, key) for name, item in value.items() if name != key}
    return [without(item, key) for item in value] if isinstance(value, list) else value
