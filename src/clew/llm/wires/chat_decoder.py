"""OpenAI Chat Completions: the reply side, lenient towards every server that claims to speak it."""

from collections.abc import Iterable, Iterator
from typing import Any

from clew.llm.errors import BadResponse, StreamBroken
from clew.llm.failures import failure_in_stream
from clew.llm.reply import PartDone, ReasoningChunk, Reply, ReplyDone, ReplyEvent, ReplyStarted, TextChunk
from clew.llm.sse import SseEvent
from clew.llm.target import Target
from clew.llm.wires.base import (
    CallIds,
    Json,
    body_json,
    event_json,
    items,
    message_id,
    obj,
    parse_arguments,
    reply_of,
    stop_with_calls,
    string,
)
from clew.llm.wires.tally import UsageTally
from clew.llm.wires.think_tags import ThinkTags
from clew.protocol.messages import ReasoningPart, TextPart, ToolCallPart

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filter",
}


class _Call:
    """A call on its way in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.whole: Any = None
        self.closed = False


class ChatDecoder:
    """One stream of chunks. A part ends where another begins, so calls complete one after the other."""

    def __init__(self, target: Target, taken: frozenset[str]) -> None:
        self._target = target
        self._ids = CallIds(taken)
        self._usage = UsageTally()
        self._tags = ThinkTags(enabled=target.quirks.think_tags)
        self._started = False
        self._model = ""
        self._finish = ""
        self._called = False
        self._text: list[str] = []
        self._thought: list[str] = []
        self._details: list[Json] = []
        self._calls: dict[int, _Call] = {}
        self._latest = -1
        self.done = False

    def feed(self, event: SseEvent) -> list[ReplyEvent]:
        if event.data.strip() == b"[DONE]":
            self.done = True
            return list(self._end())
        return list(self.take(event_json(event)))

    def finish(self) -> list[ReplyEvent]:
        if self.done:
            return []
        if not self._finish:
            raise StreamBroken("the stream ended before the reply was complete")
        self.done = True
        return list(self._end())

    def take(self, data: Json) -> Iterator[ReplyEvent]:
        """One chunk."""
        if data.get("error"):
            raise failure_in_stream(data, self._target)
        if not self._started:
            self._started = True
            self._model = string(data.get("model"))
            yield ReplyStarted(message_id=message_id(data.get("id")), model=self._target.name)
        self._usage.chat(obj(data.get("usage")))
        for choice in items(data.get("choices")):
            self._usage.chat(obj(choice.get("usage")))  # one server reports it here
            yield from self._delta(obj(choice.get("delta")))
            self._finish = string(choice.get("finish_reason")) or self._finish
        if self._finish:
            yield from self._close_all()

    def _delta(self, delta: Json) -> Iterator[ReplyEvent]:
        thought = next((text for name in REASONING_FIELDS if (text := string(delta.get(name)))), "")
        details = items(delta.get("reasoning_details"))
        if thought or details:
            yield from self._think(thought, details)
        for is_thought, text in _content(delta):
            if is_thought:
                yield from self._think(text, [])
            else:
                yield from self._speak(text)
        for call in items(delta.get("tool_calls")):
            yield from self._grow(call)

    def _speak(self, text: str) -> Iterator[ReplyEvent]:
        for is_thought, piece in self._tags.feed(text):
            yield from self._think(piece, []) if is_thought else self._say(piece)

    def _think(self, text: str, details: list[Json]) -> Iterator[ReplyEvent]:
        yield from self._close_text()
        self._thought.append(text)
        self._details.extend(details)
        if text:
            yield ReasoningChunk(text=text)

    def _say(self, text: str) -> Iterator[ReplyEvent]:
        yield from self._close_thought()
        self._text.append(text)
        yield TextChunk(text=text)

    def _grow(self, delta: Json) -> Iterator[ReplyEvent]:
        """A piece of a call. A new index, or another id under the same index, begins the next call."""
        yield from self._close_text_and_thought()
        index = delta.get("index")
        call_id = string(delta.get("id"))
        function = obj(delta.get("function"))
        if not isinstance(index, int):
            same = self._latest >= 0 and (not call_id or call_id == self._calls[self._latest].id)
            index = self._latest if same and not string(function.get("name")) else self._latest + 1
        known = self._calls.get(index)
        if known is not None and call_id and known.id and call_id != known.id:
            index = max(self._calls) + 1
            known = None
        if known is None:
            yield from self._close_calls()
            known = self._calls[index] = _Call()
        elif known.closed:
            raise StreamBroken("the stream mixed the pieces of two tool calls")
        self._latest = index
        known.id = known.id or call_id
        known.name = known.name or string(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            known.pieces.append(arguments)
        elif arguments is not None:
            known.whole = arguments

    def _close_text(self) -> Iterator[ReplyEvent]:
        text, self._text = "".join(self._text), []
        if text:
            yield PartDone(part=TextPart(text=text))

    def _close_thought(self) -> Iterator[ReplyEvent]:
        text, self._thought = "".join(self._thought), []
        details, self._details = self._details, []
        if text or details:
            data = {"reasoning_details": merged(details)} if details else None
            yield PartDone(part=ReasoningPart(text=text, provider=self._target.provider, data=data))

    def _close_text_and_thought(self) -> Iterator[ReplyEvent]:
        for is_thought, piece in self._tags.flush():
            yield from self._think(piece, []) if is_thought else self._say(piece)
        yield from self._close_thought()
        yield from self._close_text()

    def _close_calls(self) -> Iterator[ReplyEvent]:
        for call in self._calls.values():
            if not call.closed:
                call.closed = self._called = True
                arguments, raw = parse_arguments(call.whole if call.whole is not None else "".join(call.pieces))
                part = ToolCallPart(id=self._ids.claim(call.id), name=call.name, arguments=arguments, raw_arguments=raw)
                yield PartDone(part=part)

    def _close_all(self) -> Iterator[ReplyEvent]:
        yield from self._close_text_and_thought()
        yield from self._close_calls()

    def _end(self) -> Iterator[ReplyEvent]:
        if not self._started:
            raise StreamBroken("the stream ended before the reply began")
        yield from self._close_all()
        stop = STOP_REASONS.get(self._finish, self._finish or "end_turn")
        stop = stop_with_calls(stop, called=self._called)
        yield ReplyDone(stop_reason=stop, usage=self._usage.usage, model=self._model)


def _content(delta: Json) -> Iterator[tuple[bool, str]]:
    """The words of a delta, each with whether it is thought: a string, or a list of typed parts."""
    content = delta.get("content")
    if text := string(content) or string(delta.get("refusal")):
        yield False, text
    for part in items(content):
        if part.get("type") == "thinking":
            inner = part.get("thinking")
            yield True, string(inner) or "".join(string(piece.get("text")) for piece in items(inner))
        elif text := string(part.get("text")):
            yield False, text


def merged(details: Iterable[Json]) -> list[Json]:
    """Streamed pieces of one reasoning block joined again: they must go back as they were made."""
    blocks: list[Json] = []
    for piece in details:
        last = blocks[-1] if blocks else None
        same = last is not None and all(last.get(key) == piece.get(key) for key in ("type", "index"))
        if last is None or not same or piece.get("index") is None:
            blocks.append(dict(piece))
            continue
        for key, value in piece.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                last[key] = string(last.get(key)) + value
            elif value is not None:
                last[key] = value
    return blocks


def decode_chat(body: bytes, target: Target, taken: frozenset[str]) -> Reply:
    """A whole reply, read as a stream of one chunk."""
    data = body_json(body)
    choices = items(data.get("choices"))
    if not choices and not data.get("error"):
        raise BadResponse("the server's reply holds no choices")
    decoder = ChatDecoder(target, taken)
    events: list[ReplyEvent] = []
    choices = [choice | {"delta": _with_indices(obj(choice.get("message")))} for choice in choices[:1]]
    events.extend(decoder.take(data | {"choices": choices}))
    events.extend(decoder.feed(SseEvent("", b"[DONE]")))
    return reply_of(events)


def _with_indices(message: Json) -> Json:
    calls = items(message.get("tool_calls"))
    return message | {"tool_calls": [call | {"index": index} for index, call in enumerate(calls)]}
