"""Messages in the shape of chat completions, which several agents store: roles, content, tool calls by id."""

from typing import Any

import msgspec

from clew.foreign.build import Builder
from clew.foreign.shapes import Json, as_dict, as_str, dicts, first_str


def content_text(content: Any) -> str:
    """The words of a content field; thoughts and media are left out."""
    if isinstance(content, str):
        return content
    texts = [as_str(part.get("text")) for part in dicts(content) if part.get("type", "text") == "text"]
    return "\n".join(text for text in texts if text)


def content_thoughts(content: Any) -> str:
    """The reasoning parts of a content field."""
    return "\n".join(first_str(part, "think", "thinking") for part in dicts(content) if part.get("type") == "think")


def arguments_of(value: Any) -> tuple[Json, str | None]:
    """Arguments as an object, and the raw text where it is none."""
    if isinstance(value, str):
        try:
            decoded: Any = msgspec.json.decode(value.encode("utf-8", "replace")) if value.strip() else {}
        except (msgspec.DecodeError, RecursionError):
            decoded = None
        return (as_dict(decoded), None) if isinstance(decoded, dict) else ({}, value)
    return as_dict(value), None


def tool_call(build: Builder, call: Json) -> str:
    """One entry of `tool_calls`."""
    function = as_dict(call.get("function")) or call
    arguments, raw = arguments_of(function.get("arguments"))
    return build.call(as_str(call.get("id")), as_str(function.get("name")), arguments, raw=raw)


def assistant_message(build: Builder, message: Json) -> list[str]:
    """A reply: reasoning, words, calls. Returns the ids of its calls."""
    build.end_reply()
    content = message.get("content")
    build.reasoning(first_str(message, "reasoning_content", "reasoning") or content_thoughts(content))
    build.text(content_text(content))
    return [tool_call(build, call) for call in dicts(message.get("tool_calls") or message.get("toolCalls"))]
