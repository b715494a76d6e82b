"""OpenAI Chat Completions: the reply side, lenient towards every server that claims to speak it.

Reasoning that a local server left inside the text: a reply that opens with <think> … </think>.
"""

from collections.abc import Iterable, Iterator
from itertools import count

from clew.llm.errors import BadResponse, StreamBroken
from clew.llm.failures import failure_in_stream, is_cut_off
from clew.llm.http.sse import SseEvent
from clew.llm.models.target import Target
from clew.llm.reply import PartDone, ReasoningChunk, ReplyDone, ReplyEvent, ReplyStarted, TextChunk
from clew.llm.wires.base import Json, UsageTally, body_json, event_json, items, obj, stop_with_calls, string
from clew.llm.wires.chat_calls import GrowingCalls
from clew.protocol.messages import ReasoningPart, TextPart

OPEN, CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits streamed text into thought and speech. Only a block at the very start counts; later tags are text."""

    def __init__(self, *, enabled: bool) -> None:
        self._state = "start" if enabled else "speech"
        self._held = ""

    def feed(self, text: str) -> Iterator[tuple[bool, str]]:
        """Pieces in order, each with whether it is thought. Text that may be half of a tag is held back."""
        if self._state == "speech":
            yield False, text
            return
        self._held += text
        if self._state == "start":
            opening = self._held.lstrip()
            if not opening.startswith(OPEN):
                if OPEN.startswith(opening):
                    return
                self._state = "speech"
                yield False, self._take()
                return
            self._state, self._held = "thought", opening.removeprefix(OPEN)
        yield from self._thought()

    def flush(self) -> Iterator[tuple[bool, str]]:
        """What was held back when the text ended."""
        if self._held:
            yield self._state == "thought", self._take()

    def _thought(self) -> Iterator[tuple[bool, str]]:
        thought, closed, speech = self._held.partition(CLOSE)
        if closed:
            self._state, self._held = "speech", ""
            if thought:
                yield True, thought
            if speech := speech.lstrip("\n"):
                yield False, speech
            return
        keep = next((n for n in range(len(CLOSE) - 1, 0, -1) if self._held.endswith(CLOSE[:n])), 0)
        safe, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        if safe:
            yield True, safe

    def _take(self) -> str:
        held, self._held = self._held, ""
        return held


REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "model_length": "max_tokens",
    "token_limit": "max_tokens",
    "content_filter": "content_filter",
}


class ChatDecoder:
    """One stream of chunks. Words and thoughts end where something else begins; calls say so themselves."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._usage = UsageTally()
        self._tags = ThinkTags(enabled=target.quirks.think_tags)
        self._started = False
        self._model = ""
        self._finish = ""
        self._numbers = count()
        self._text: list[str] = []
        self._thought: list[str] = []
        self._details: list[Json] = []
        self._number = 0
        """Of the words or the thought that grow now."""
        self._calls = GrowingCalls(self._numbers)
        self._lists_calls = False
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
        if data.get("error") and self._started and is_cut_off(data):
            data = {"choices": [{"finish_reason": "length"}]}
        if data.get("error"):
            raise failure_in_stream(data, self._target)
        if not self._started:
            self._started = True
            self._model = string(data.get("model"))
            yield ReplyStarted(message_id=string(data.get("id")), model=self._target.name)
        self._usage.chat(obj(data.get("usage")))
        for choice in items(data.get("choices")):
            self._usage.chat(obj(choice.get("usage")))  # one server reports it here
            yield from self._delta(obj(choice.get("delta")))
            self._finish = string(choice.get("finish_reason")) or self._finish
        yield from self._usage.news()
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
        calls = items(delta.get("tool_calls"))
        self._lists_calls = self._lists_calls or bool(calls)
        if not self._lists_calls and (old := obj(delta.get("function_call"))):
            calls = [{"index": 0, "function": old}]  # as calls were made before there could be several
        for call in calls:
            yield from self._close_text_and_thought()
            yield from self._calls.take(call)

    def _speak(self, text: str) -> Iterator[ReplyEvent]:
        for is_thought, piece in self._tags.feed(text):
            yield from self._think(piece, []) if is_thought else self._say(piece)

    def _think(self, text: str, details: list[Json]) -> Iterator[ReplyEvent]:
        yield from self._close_text()
        if not self._thought and not self._details:
            self._number = next(self._numbers)
        self._thought.append(text)
        self._details.extend(details)
        if text:
            yield ReasoningChunk(text=text, part=self._number)

    def _say(self, text: str) -> Iterator[ReplyEvent]:
        yield from self._close_thought()
        if not self._text:
            self._number = next(self._numbers)
        self._text.append(text)
        yield TextChunk(text=text, part=self._number)

    def _close_text(self) -> Iterator[ReplyEvent]:
        text, self._text = "".join(self._text), []
        if text:
            yield PartDone(part=TextPart(text=text), index=self._number)

    def _close_thought(self) -> Iterator[ReplyEvent]:
        text, self._thought = "".join(self._thought), []
        details, self._details = self._details, []
        if text or details:
            data = {"reasoning_details": merged(details)} if details else None
            part = ReasoningPart(text=text, provider=self._target.provider, data=data)
            yield PartDone(part=part, index=self._number)

    def _close_text_and_thought(self) -> Iterator[ReplyEvent]:
        for is_thought, piece in self._tags.flush():
            yield from self._think(piece, []) if is_thought else self._say(piece)
        yield from self._close_thought()
        yield from self._close_text()

    def _close_all(self) -> Iterator[ReplyEvent]:
        yield from self._close_text_and_thought()
        yield from self._calls.finish()

    def _end(self) -> Iterator[ReplyEvent]:
        if not self._started:
            raise StreamBroken("the stream ended before the reply began")
        yield from self._close_all()
        stop = STOP_REASONS.get(self._finish, self._finish or "end_turn")
        stop = stop_with_calls(stop, called=bool(self._calls))
        yield ReplyDone(stop_reason=stop, usage=self._usage.usage, model=self._model)


def _content(delta: Json) -> Iterator[tuple[bool, str]]:
    """The words of a delta, each with whether it is thought: a string, or a list of typed parts."""
    content = delta.get("content")
    if text := string(content) or string(delta.get("refusal")):
        yield False, text
    for part in items(content):
        if part.get("type") == "thinking":
            inner = part.get("thinking")
            if text := string(inner) or "".join(string(piece.get("text")) for piece in items(inner)):
                yield True, text
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


def decode_chat(body: bytes, target: Target) -> list[ReplyEvent]:
    """The events of a reply that came in one piece, read as a stream of one chunk."""
    data = body_json(body)
    choices = items(data.get("choices"))
    if not choices and not data.get("error"):
        raise BadResponse("the server's reply holds no choices")
    decoder = ChatDecoder(target)
    choices = [choice | {"delta": _with_indices(obj(choice.get("message")))} for choice in choices[:1]]
    return [*decoder.take(data | {"choices": choices}), *decoder.feed(SseEvent("", b"[DONE]"))]


def _with_indices(message: Json) -> Json:
    calls = items(message.get("tool_calls"))
    return message | {"tool_calls": [call | {"index": index} for index, call in enumerate(calls)]}
