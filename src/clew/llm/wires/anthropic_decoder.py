"""Anthropic Messages: the reply side."""

from clew.llm.errors import StreamBroken
from clew.llm.failures import failure_in_stream
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import ArgumentsChunk, PartDone, ReasoningChunk, ReplyDone, ReplyEvent, ReplyStarted, TextChunk
from clew.llm.wires.base import (
    Json,
    body_json,
    call_id,
    event_json,
    items,
    obj,
    parse_arguments,
    parts_at_once,
    string,
)
from clew.llm.wires.tally import UsageTally
from clew.protocol.messages import Part, ReasoningPart, RedactedReasoningPart, TextPart, ToolCallPart


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
