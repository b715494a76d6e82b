"""Anthropic Messages: the request side."""

from collections.abc import Sequence

from clew.llm.models.target import Target
from clew.llm.reply import ReplyEvent
from clew.llm.request import BUDGETS, ModelRequest
from clew.llm.wires.anthropic_decoder import AnthropicDecoder, decode_message
from clew.llm.wires.base import HttpRequest, Json, to_json
from clew.llm.wires.history import history_for, result_parts, wire_id
from clew.llm.wires.schema import closed
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
