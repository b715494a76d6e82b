"""Anthropic Messages, both sides: a request as its body, and the events of a stream as pieces of a reply."""

from collections.abc import Sequence
from typing import Any, cast

from clew.llm.errors import StreamBroken
from clew.llm.failures import failure_in_stream
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import ArgumentsChunk, PartDone, ReasoningChunk, ReplyDone, ReplyEvent, ReplyStarted, TextChunk
from clew.llm.request import BUDGETS, ModelRequest
from clew.llm.wires.base import (
    HttpRequest,
    Json,
    UsageTally,
    body_json,
    call_id,
    event_json,
    history_for,
    items,
    obj,
    parse_arguments,
    parts_at_once,
    result_parts,
    string,
    to_json,
    wire_id,
)
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    MediaSource,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_of,
    parts_of,
)


class _Open:
    """A content block on its way in."""

    def __init__(self, block: Json) -> None:
        self.block = block
        self.text = string(block.get("text")) or string(block.get("thinking"))
        self.pieces: list[str] = []
        self.signature = string(block.get("signature"))
        self.number = -1
        """Its place among the parts of the reply, once it has shown itself."""


class AnthropicDecoder:
    """One stream of Anthropic events."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._open: dict[int, _Open] = {}
        self._count = 0
        self._usage = UsageTally()
        self._stop_reason = ""
        self._model = ""
        self._started = False
        self.done = False

    def feed(self, event: SseEvent) -> list[ReplyEvent]:
        data = event_json(event)
        match data.get("type"):
            case "message_start":
                return self._start(obj(data.get("message")))
            case "content_block_start":
                return self._open_block(data)
            case "content_block_delta":
                return self._delta(data)
            case "content_block_stop":
                return self._close_block(data)
            case "message_delta":
                self._stop_reason = string(obj(data.get("delta")).get("stop_reason")) or self._stop_reason
                self._usage.anthropic(obj(data.get("usage")))
                return [*self._usage.news()]
            case "message_stop":
                return self._end()
            case "error":
                raise failure_in_stream(data, self._target)
            case _:
                pass
        return []

    def finish(self) -> list[ReplyEvent]:
        if self.done:
            return []
        raise StreamBroken("the stream ended before the reply was complete")

    def _start(self, message: Json) -> list[ReplyEvent]:
        self._started = True
        self._model = string(message.get("model"))
        self._usage.anthropic(obj(message.get("usage")))
        return [ReplyStarted(message_id=string(message.get("id")), model=self._target.name), *self._usage.news()]

    def _open_block(self, data: Json) -> list[ReplyEvent]:
        opened = _Open(obj(data.get("content_block")))
        self._open[_index(data)] = opened
        return self._chunk(opened, opened.text)

    def _delta(self, data: Json) -> list[ReplyEvent]:
        opened = self._open.get(_index(data))
        if opened is None:
            raise StreamBroken("the stream continued a block it never opened")
        delta = obj(data.get("delta"))
        match delta.get("type"):
            case "text_delta" | "thinking_delta":
                text = string(delta.get("text")) or string(delta.get("thinking"))
                opened.pieces.append(text)
                return self._chunk(opened, text)
            case "input_json_delta":
                text = string(delta.get("partial_json"))
                opened.pieces.append(text)
                return self._chunk(opened, text) if text else []
            case "signature_delta":
                opened.signature += string(delta.get("signature"))
            case _:
                pass
        return []

    def _close_block(self, data: Json) -> list[ReplyEvent]:
        opened = self._open.pop(_index(data), None)
        if opened is None:
            return []
        block = dict(opened.block)
        streamed = "".join(opened.pieces)
        match block.get("type"):
            case "text":
                block["text"] = opened.text + streamed
            case "thinking":
                block |= {"thinking": opened.text + streamed, "signature": opened.signature}
            case "tool_use":
                block["input"] = streamed or block.get("input")
            case _:
                pass
        part = _part(block, self._target)
        return [] if part is None else [PartDone(part=part, index=self._number(opened))]

    def _chunk(self, opened: _Open, text: str) -> list[ReplyEvent]:
        match opened.block.get("type"):
            case "text" if text:
                return [TextChunk(text=text, part=self._number(opened))]
            case "thinking" if text:
                return [ReasoningChunk(text=text, part=self._number(opened))]
            case "tool_use":
                name, given = string(opened.block.get("name")), string(opened.block.get("id"))
                return [ArgumentsChunk(part=self._number(opened), name=name, text=text, call_id=given)]
            case _:
                return []

    def _number(self, opened: _Open) -> int:
        """Blocks that never become a part, such as empty words, are not counted."""
        if opened.number < 0:
            opened.number = self._count
            self._count += 1
        return opened.number

    def _end(self) -> list[ReplyEvent]:
        if not self._started or self._open:
            raise StreamBroken("the stream ended inside a block")
        self.done = True
        return [ReplyDone(stop_reason=self._stop_reason or "end_turn", usage=self._usage.usage, model=self._model)]


def _index(data: Json) -> int:
    index = data.get("index")
    return index if isinstance(index, int) else 0


def _part(block: Json, target: Target) -> Part | None:
    """A finished block; kinds we did not ask for and empty words are left out."""
    match block.get("type"):
        case "text":
            return TextPart(text=text) if (text := string(block.get("text"))) else None
        case "thinking":
            text, signature = string(block.get("thinking")), string(block.get("signature"))
            return ReasoningPart(text=text, signature=signature, provider=target.provider)
        case "redacted_thinking":
            return RedactedReasoningPart(data=string(block.get("data")))
        case "tool_use":
            arguments, raw = parse_arguments(block.get("input"))
            given, name = string(block.get("id")), string(block.get("name"))
            return ToolCallPart(id=call_id(given), name=name, arguments=arguments, raw_arguments=raw)
        case _:
            return None


def decode_message(body: bytes, target: Target) -> list[ReplyEvent]:
    """The events of a reply that came in one piece."""
    data = body_json(body)
    usage = UsageTally()
    usage.anthropic(obj(data.get("usage")))
    parts = [part for block in items(data.get("content")) if (part := _part(block, target)) is not None]
    started = ReplyStarted(message_id=string(data.get("id")), model=target.name)
    stop = string(data.get("stop_reason")) or "end_turn"
    done = ReplyDone(stop_reason=stop, usage=usage.usage, model=string(data.get("model")))
    return [started, *parts_at_once(parts), done]


def closed(schema: Any) -> Any:
    """The schema with every object closed to unknown keys, as constrained decoding asks."""
    if isinstance(schema, list):
        return [closed(item) for item in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    shape = {key: closed(value) for key, value in cast(dict[str, Any], schema).items()}
    if shape.get("type") == "object" and "additionalProperties" not in shape:
        shape["additionalProperties"] = False
    return shape


MIN_BUDGET = 1_024


def encode(request: ModelRequest, target: Target, *, stream: bool) -> HttpRequest:
    """Stable things first, history last: bytes already sent stay a prefix, but for the moving cache marks."""
    history = history_for(request.messages, target)
    body: Json = target.opening() | {"max_tokens": _cap(request, target)}
    body |= _thinking(request, target, history)
    if request.temperature is not None and target.profile.sampling and "thinking" not in body:
        body["temperature"] = request.temperature
    if stream and target.endpoint.says_stream:
        body["stream"] = True
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
        ]
    if system := [{"type": "text", "text": text} for text in request.system if text.strip()]:
        body["system"] = system
    body["messages"] = [{"role": message.role, "content": _blocks(message)} for message in history]
    if target.profile.cache and target.cache_ttl != "off" and not request.is_one_shot:
        _mark(body, target.cache_ttl)
    headers = (("content-type", "application/json"), *target.headers)
    url = target.address("v1/messages", stream=stream)
    return HttpRequest(method="POST", url=url, headers=headers, body=to_json(body))


def _cap(request: ModelRequest, target: Target) -> int:
    cap = request.max_output_tokens or target.profile.default_output or target.profile.max_output
    return min(cap, target.profile.max_output)


def _thinking(request: ModelRequest, target: Target, history: Sequence[Message]) -> Json:
    """Thinking and effort, in the form this model takes."""
    profile = target.profile
    effort = profile.clamp_effort(request.level)
    config: Json = {}
    fields: Json = {}
    if profile.thinking == "adaptive":
        if request.is_silent and not profile.always_thinks:
            fields["thinking"] = {"type": "disabled"}  # without the field, newer models think
            effort = "high" if effort in ("xhigh", "max") else effort  # the most that goes with it
        elif request.is_one_shot:
            effort = effort or profile.clamp_effort("low")
        else:
            fields["thinking"] = {"type": "adaptive", "display": "summarized" if request.thinking.shown else "omitted"}
        if effort is not None:
            config["effort"] = effort
    elif profile.thinking == "budget" and not _thought_is_missing(history):
        budget = _budget(request, target, effort)
        if budget >= MIN_BUDGET:
            fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
    if request.json_schema is not None and profile.json_schema:
        config["format"] = {"type": "json_schema", "schema": closed(request.json_schema)}
    if config:
        fields["output_config"] = config
    return fields


def _budget(request: ModelRequest, target: Target, effort: str | None) -> int:
    """Tokens for a model that takes a number; 0: none. It thinks only when it is asked to."""
    wanted = request.thinking
    if request.is_silent:
        return 0
    if wanted.budget_tokens:
        return min(max(wanted.budget_tokens, MIN_BUDGET), _cap(request, target) - MIN_BUDGET)
    level = effort or ("high" if wanted.mode else None)
    return min(BUDGETS[level], _cap(request, target) // 2) if level is not None else 0


def _thought_is_missing(history: Sequence[Message]) -> bool:
    """Inside a tool loop that began without thinking (another model's calls), thinking cannot be switched on."""
    for message in reversed(history):
        parts = parts_of(message)
        if message.role == "assistant":
            called = any(isinstance(part, ToolCallPart) for part in parts)
            return called and not isinstance(parts[0], ReasoningPart | RedactedReasoningPart)
        if not any(isinstance(part, ToolResultPart) for part in parts):
            return False
    return False


def _mark(body: Json, ttl: str) -> None:
    """Cache breakpoints: the stable and the whole system prompt, and the last two user turns.

    The turn before last carries the mark of the previous request, so that a step of many blocks still finds it.
    """
    control: Json = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    system: list[Json] = body.get("system", [])
    marked = [system[0], system[-1]] if system else body.get("tools", [])[-1:]
    users = [message for message in body["messages"] if message["role"] == "user"]
    marked += [message["content"][-1] for message in users[-2:]]
    for block in marked:
        block["cache_control"] = control


def _blocks(message: Message) -> list[Json]:
    blocks: list[Json] = []
    aside: list[Json] = []
    for part in parts_of(message):
        if isinstance(part, ToolResultPart):
            blocks.append(_result(part, aside))
        else:
            blocks.append(_block(part))
    if aside:  # results stay together at the front, whatever had to leave them follows
        count = sum(block["type"] == "tool_result" for block in blocks)
        blocks[count:count] = aside
    return blocks


def _block(part: Part) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ReasoningPart():
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}
        case RedactedReasoningPart():
            return {"type": "redacted_thinking", "data": part.data}
        case ToolCallPart():
            return {"type": "tool_use", "id": wire_id(part.id), "name": part.name, "input": arguments_of(part)}
        case ImagePart():
            return {"type": "image", "source": _source(part.source)}
        case DocumentPart():
            return _document(part)
        case _:
            raise TypeError(f"no block for {type(part).__name__}")


def _document(part: DocumentPart) -> Json:
    title: Json = {"title": part.title} if part.title else {}
    return {"type": "document", "source": _source(part.source), **title}


def _source(source: MediaSource) -> Json:
    if source.type == "url":
        return {"type": "url", "url": source.url}
    return {"type": source.type, "media_type": source.media_type, "data": source.data}


def _result(part: ToolResultPart, aside: list[Json]) -> Json:
    """An error may hold words only; its media go beside it."""
    text, media = result_parts(part)
    block: Json = {"type": "tool_result", "tool_use_id": wire_id(part.call_id)}
    attached = [_block(one) for one in media]
    if part.is_error:
        aside.extend(attached)
        return block | {"content": text, "is_error": True}
    return block | {"content": [{"type": "text", "text": text}, *attached] if attached else text}


def decoder(target: Target) -> AnthropicDecoder:
    """A decoder for one stream."""
    return AnthropicDecoder(target)


def decode(body: bytes, target: Target) -> list[ReplyEvent]:
    """The events of a reply that came in one piece."""
    return decode_message(body, target)
