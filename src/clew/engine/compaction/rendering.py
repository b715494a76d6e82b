"""A stretch of the conversation as a transcript that a summariser reads: who spoke, what was called, what came back."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from msgspec import Struct

from clew.engine.compaction.framing import clipped
from clew.engine.compaction.stretches import Exchange
from clew.llm.estimate import estimate_text
from clew.protocol.entries import Entry
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_of,
    parts_of,
    result_text,
)
from clew.transcript.chain.view import Replacements, messages_of

Slim = Callable[[Sequence[Message]], tuple[Message, ...]]
"""Messages with short words in the place of pictures and documents."""


class TextLimits(Struct, frozen=True, kw_only=True):
    """How many characters of each kind of text are shown."""

    said: int = 6_000
    arguments: int = 1_500
    result: int = 2_000

    def smaller(self) -> "TextLimits":
        """Half of everything."""
        return TextLimits(said=self.said // 2, arguments=self.arguments // 2, result=self.result // 2)


_FLOOR = 60


def without_media(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The plainest slimming: a transcript shows only that there was a medium, so nothing has to be replaced."""
    return tuple(messages)


def transcript(exchanges: Sequence[Exchange], *, max_tokens: int, slim: Slim = without_media) -> str:
    """The exchanges as text of at most so many tokens: long texts lose their middle first, then more of it."""
    entries = [entry for exchange in exchanges for entry in exchange.entries]
    messages = slim(messages_of(entries, Replacements()))
    limits = TextLimits()
    text = _text(messages, limits)
    while estimate_text(text) > max_tokens and limits.result > _FLOOR:
        limits = limits.smaller()
        text = _text(messages, limits)
    while (tokens := estimate_text(text)) > max_tokens and len(text) > _FLOOR:
        text = clipped(text, max(_FLOOR, min(len(text) * 9 // 10, int(len(text) * max_tokens / tokens))))
    return text


def transcript_tokens(exchange: Exchange) -> int:
    """How large an exchange is in a transcript without further cuts."""
    return round(estimate_text(_text(messages_of(exchange.entries, Replacements()), TextLimits())))


def evidence(entries: Sequence[Entry]) -> str:
    """All words that stand in some entries, uncut: what a summary of them may name."""
    words: list[str] = []
    for message in messages_of(entries, Replacements()):
        for part in parts_of(message):
            if isinstance(part, TextPart):
                words.append(part.text)
            elif isinstance(part, ToolCallPart):
                words += [part.name, *_strings(arguments_of(part))]
            elif isinstance(part, ToolResultPart):
                words.append(result_text(part))
    return "\n".join(words)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _strings(item)


def _text(messages: Sequence[Message], limits: TextLimits) -> str:
    return "\n".join(
        line for message in messages for part in parts_of(message) for line in _lines(message, part, limits)
    )


def _lines(message: Message, part: Part, limits: TextLimits) -> Iterator[str]:
    match part:
        case TextPart():
            who = "agent" if isinstance(message, AssistantMessage) else "input"
            yield f"[{who}] {clipped(part.text, limits.said)}"
        case ToolCallPart():
            call = meant_call(part)
            arguments = json.dumps(arguments_of(call), ensure_ascii=False)
            yield f"[call {call.name}] {clipped(arguments, limits.arguments)}"
        case ToolResultPart():
            yield f"[{'failed' if part.is_error else 'result'}] {clipped(result_text(part), limits.result)}"
            if not isinstance(part.content, str):
                yield from (_medium(inner) for inner in part.content if not isinstance(inner, TextPart))
        case ImagePart() | DocumentPart():
            yield _medium(part)
        case _:
            return


def _medium(part: ImagePart | DocumentPart) -> str:
    return "[image]" if isinstance(part, ImagePart) else "[document]"
