"""OpenAI Chat Completions, as OpenAI and everybody else serve it: the request side."""

from collections.abc import Sequence
from typing import Any

from clew.llm.models.target import Target
from clew.llm.reply import ReplyEvent
from clew.llm.request import ModelRequest
from clew.llm.wires.base import HttpRequest, Json, history_for, result_parts, to_json, wire_id
from clew.llm.wires.chat_decoder import ChatDecoder, decode_chat
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    MediaSource,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_of,
    parts_of,
)


def encode(request: ModelRequest, target: Target, *, stream: bool) -> HttpRequest:
    """Stable things first, history last: bytes already sent stay a prefix."""
    quirks, profile = target.quirks, target.profile
    body: Json = {"model": target.model}
    cap = request.max_output_tokens or profile.default_output
    if cap is not None:
        body[quirks.max_tokens_field] = min(cap, profile.max_output)
    body |= _effort(request, target)
    if request.temperature is not None and profile.sampling:
        body["temperature"] = request.temperature
    if stream:
        body["stream"] = True
        if quirks.stream_usage:
            body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
        if quirks.parallel_calls is not None:
            body["parallel_tool_calls"] = quirks.parallel_calls
    body |= _format(request, target)
    body["messages"] = _messages(request, target)
    if quirks.cache_breakpoints and profile.cache and target.cache_ttl != "off" and not request.is_one_shot:
        _mark(body["messages"], target.cache_ttl)
    headers = (("content-type", "application/json"), *target.headers)
    url = target.address("chat/completions", stream=stream)
    return HttpRequest(method="POST", url=url, headers=headers, body=to_json(body))


def _effort(request: ModelRequest, target: Target) -> Json:
    """Effort in this server's words. Levels the model does not take are clamped; without levels, only a switch."""
    profile, style = target.profile, target.quirks.effort_style
    if request.is_silent and target.thinks == "if asked" and style in ("reasoning", "reasoning_effort"):
        return {"reasoning": {"effort": "none"}} if style == "reasoning" else {"reasoning_effort": "none"}
    if request.is_silent and profile.thinking != "none":
        switches: Json = {"thinking": {"type": "disabled"}, "enable_thinking": False}
        least = profile.efforts[0] if profile.efforts else None
        if style in switches:
            return {style: switches[style]}
        return ({"reasoning": {"effort": least}} if style == "reasoning" else {style: least}) if style and least else {}
    if profile.thinking == "none" or not style:
        return {}
    if request.level is None:
        return switches_on(style) if request.thinking.mode == "enabled" else {}
    level = profile.clamp_effort(request.level)
    if style == "thinking":
        return {"thinking": {"type": "enabled"}} | ({"reasoning_effort": level} if level else {})
    if style == "enable_thinking":
        return {"enable_thinking": request.thinking.mode == "enabled" or request.level != "low"}
    if level is None:
        return {}
    return {"reasoning": {"effort": level}} if style == "reasoning" else {"reasoning_effort": level}


def switches_on(style: str) -> Json:
    """Thinking without a level, where that is a switch."""
    return {"thinking": {"thinking": {"type": "enabled"}}, "enable_thinking": {"enable_thinking": True}}.get(style, {})


def _format(request: ModelRequest, target: Target) -> Json:
    if request.json_schema is None or not target.profile.json_schema or not target.quirks.json_schema:
        return {}
    if target.quirks.json_schema == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": "answer", "schema": request.json_schema, "strict": False}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _messages(request: ModelRequest, target: Target) -> list[Json]:
    messages: list[Json] = []
    if system := "\n\n".join(text for text in request.system if text.strip()):
        messages.append({"role": target.quirks.system_role, "content": system})
    for message in history_for(request.messages, target):
        if message.role == "assistant":
            messages.append(_assistant(parts_of(message), target))
        else:
            messages.extend(_user(parts_of(message), target))
    return messages


def _assistant(parts: Sequence[Part], target: Target) -> Json:
    text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    message: Json = {"role": "assistant", "content": text or None}
    message |= _echo([part for part in parts if isinstance(part, ReasoningPart)], target.quirks.echo_reasoning)
    if calls := [part for part in parts if isinstance(part, ToolCallPart)]:
        message["tool_calls"] = [_call(call, target) for call in calls]
    return message


def _echo(thoughts: list[ReasoningPart], field: str) -> Json:
    if not thoughts or not field:
        return {}
    if field == "reasoning_details":
        details: list[Any] = [item for part in thoughts for item in (part.data or {}).get("reasoning_details", [])]
        return {"reasoning_details": details} if details else {}
    text = "".join(part.text for part in thoughts)
    return {field: text} if text else {}


def _call(call: ToolCallPart, target: Target) -> Json:
    arguments = arguments_of(call)
    written: Any = arguments if target.quirks.object_arguments else to_json(arguments).decode()
    call_id = wire_id(call.id, length=target.quirks.id_length)
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": written}}


def _user(parts: Sequence[Part], target: Target) -> list[Json]:
    """Results as messages of their own, then what the user said; media of results go there too: tools speak words."""
    messages: list[Json] = []
    content: list[Json] = []
    for part in parts:
        if isinstance(part, ToolResultPart):
            text, media = result_parts(part)
            call_id = wire_id(part.call_id, length=target.quirks.id_length)
            messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
            content.extend(_content(one, target) for one in media)
        else:
            content.append(_content(part, target))
    if content:
        plain = all(item["type"] == "text" for item in content)
        said: Any = "\n\n".join(item["text"] for item in content) if plain else content
        messages.append({"role": "user", "content": said})
    return messages


def _content(part: Part, target: Target) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart() if target.profile.images:
            return {"type": "image_url", "image_url": {"url": data_url(part.source)}}
        case DocumentPart() if part.source.type == "text":
            return {"type": "text", "text": f"{part.title}\n{part.source.data}".strip()}
        case DocumentPart() if target.quirks.files and target.profile.documents and part.source.data:
            name = part.title or "document.pdf"
            return {"type": "file", "file": {"filename": name, "file_data": data_url(part.source)}}
        case ImagePart():
            return {"type": "text", "text": f"[image left out: {target.model} takes no images]"}
        case DocumentPart():
            return {"type": "text", "text": f"[document {part.title} left out: {target.model} takes no documents]"}
        case _:
            raise TypeError(f"no content for {type(part).__name__}")


def data_url(source: MediaSource) -> str:
    """The media inline, or its own address."""
    return source.url if source.type == "url" else f"data:{source.media_type};base64,{source.data}"


def _mark(messages: list[Json], ttl: str) -> None:
    """Breakpoints for a reseller of models that want them: the system prompt and the last two user messages."""
    control: Json = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    users = [message for message in messages if message["role"] == "user"]
    for message in [*messages[:1], *users]:  # all as blocks, so that a mark that moves on changes nothing else
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    for message in [*messages[:1], *users[-2:]]:
        blocks: list[Json] = message["content"]
        message["content"] = [*blocks[:-1], blocks[-1] | {"cache_control": control}]


def decoder(target: Target) -> ChatDecoder:
    """A decoder for one stream."""
    return ChatDecoder(target)


def decode(body: bytes, target: Target) -> list[ReplyEvent]:
    """The events of a reply that came in one piece."""
    return decode_chat(body, target)
