"""A model played in-process from a small script: for tests of the engine and for `clew tour`.

    model = ScriptedModel([
        Turn([Think("look first"), Say("I will read it."), Call("Read", {"file_path": "x"})]),
        Fail(Overloaded("no capacity")),
        Say("Done."),
    ])

Every request takes the next reply of the script; a bare Say, Think or Call is a reply of one part. A function in the
script receives the request and returns the reply. `stream()` and `complete()` take from the same script.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from clew.llm.errors import InvalidRequest, LLMError
from clew.llm.reply import PartDone, ReasoningChunk, Reply, ReplyDone, ReplyEvent, ReplyStarted, Retrying, TextChunk
from clew.llm.request import ModelRequest
from clew.protocol.ids import CallId, MessageId
from clew.protocol.messages import Part, ReasoningPart, TextPart, ToolCallPart
from clew.protocol.usage import Usage

DEFAULT_USAGE = Usage(input_tokens=100, output_tokens=10)


class Say(Struct, frozen=True):
    """Words."""

    text: str


class Think(Struct, frozen=True):
    """Reasoning."""

    text: str
    signature: str = ""


class Call(Struct, frozen=True):
    """A tool call. Without an id it gets `call_1`, `call_2`, ... in order of the whole script."""

    name: str
    arguments: dict[str, Any] = {}
    id: str = ""
    raw: str | None = None
    """The text of arguments that are not a JSON object."""


class Wait(Struct, frozen=True):
    """Hold the stream until the event is set; `reached` is set when the stream got here."""

    event: asyncio.Event
    reached: asyncio.Event | None = None


class Pause(Struct, frozen=True):
    """Hold the stream for a while, through the model's `sleep` (a demonstration wants a human pace)."""

    seconds: float


Scripted = Say | Think | Call | Wait | Pause | Retrying | Part


class Turn(Struct, frozen=True):
    """A whole reply of several parts."""

    parts: Sequence[Scripted]
    stop_reason: str = ""
    """Empty: `tool_use` when there is a call, else `end_turn`."""
    usage: Usage | None = DEFAULT_USAGE


class Fail(Struct, frozen=True):
    """The request fails before anything was answered."""

    error: LLMError


class BreakAfter(Struct, frozen=True):
    """The stream breaks after these parts; asked without streaming, the request fails outright."""

    parts: Sequence[Scripted]
    error: LLMError


ScriptedReply = Say | Think | Call | Turn | Fail | BreakAfter
ScriptItem = ScriptedReply | Callable[[ModelRequest], ScriptedReply]


class ScriptedModel:
    """Plays the script; `requests` records what was asked, `closed_streams` how many streams were dropped early."""

    def __init__(
        self,
        replies: Iterable[ScriptItem] = (),
        *,
        name: str = "scripted/model",
        window: int = 200_000,
        max_output_tokens: int = 64_000,
        usd_per_token: float | None = None,
        chunk_chars: int = 24,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self.name = name
        self.window = window
        self.max_output_tokens = max_output_tokens
        self.requests: list[ModelRequest] = []
        self.closed_streams = 0
        self.closed = False
        self._script = list(replies)
        self._usd_per_token = usd_per_token
        self._chunk_chars = chunk_chars
        self._sleep = sleep
        self._calls = 0

    def extend(self, replies: Iterable[ScriptItem]) -> None:
        """Add to the end of the script."""
        self._script.extend(replies)

    @property
    def remaining(self) -> int:
        """Replies not played yet."""
        return len(self._script)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ReplyEvent]:
        """Play the next reply piece by piece."""
        reply = self._next(request)
        if isinstance(reply, Fail):
            raise reply.error
        finished = False
        try:
            started = False
            parts: list[Part] = []
            for item in reply.parts:
                if isinstance(item, Retrying):
                    yield item
                    continue
                if not started:
                    started = True
                    yield self._started()
                if isinstance(item, Wait):
                    await _hold(item)
                elif isinstance(item, Pause):
                    await self._sleep(item.seconds)
                else:
                    part = self._part(item)
                    parts.append(part)
                    for event in self._chunks(part):
                        yield event
                    yield PartDone(part=part)
            if not started:
                yield self._started()
            finished = True
            if isinstance(reply, BreakAfter):
                raise reply.error
            yield ReplyDone(stop_reason=_stop_reason(reply, parts), usage=reply.usage, model=self.name)
        finally:
            self.closed_streams += not finished

    async def complete(self, request: ModelRequest) -> Reply:
        """Play the next reply as a whole."""
        reply = self._next(request)
        if isinstance(reply, Fail | BreakAfter):
            raise reply.error
        parts: list[Part] = []
        for item in reply.parts:
            if isinstance(item, Wait):
                await _hold(item)
            elif isinstance(item, Pause):
                await self._sleep(item.seconds)
            elif not isinstance(item, Retrying):
                parts.append(self._part(item))
        return Reply(
            message_id=self._message_id(),
            model=self.name,
            parts=tuple(parts),
            stop_reason=_stop_reason(reply, parts),
            usage=reply.usage,
        )

    def cost_usd(self, usage: Usage) -> float | None:
        """The same price for every token; None unless one was given."""
        if self._usd_per_token is None:
            return None
        return (usage.prompt_tokens + usage.output_tokens) * self._usd_per_token

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _next(self, request: ModelRequest) -> Turn | Fail | BreakAfter:
        self.requests.append(request)
        if not self._script:
            raise InvalidRequest(f"The script of {self.name} has no reply for request {len(self.requests)}.")
        item = self._script.pop(0)
        reply = item(request) if callable(item) else item
        return Turn([reply]) if isinstance(reply, Say | Think | Call) else reply

    def _started(self) -> ReplyStarted:
        return ReplyStarted(message_id=self._message_id(), model=self.name, request_id=f"req_{len(self.requests)}")

    def _message_id(self) -> MessageId:
        return MessageId(f"msg_{len(self.requests)}")

    def _part(self, item: Say | Think | Call | Part) -> Part:
        match item:
            case Say():
                return TextPart(text=item.text)
            case Think():
                provider = self.name.partition("/")[0]
                return ReasoningPart(text=item.text, signature=item.signature, provider=provider)
            case Call():
                self._calls += 1
                call_id = CallId(item.id or f"call_{self._calls}")
                return ToolCallPart(id=call_id, name=item.name, arguments=item.arguments, raw_arguments=item.raw)
            case _:
                return item

    def _chunks(self, part: Part) -> Iterable[ReplyEvent]:
        if isinstance(part, TextPart | ReasoningPart):
            kind = TextChunk if isinstance(part, TextPart) else ReasoningChunk
            for start in range(0, len(part.text), self._chunk_chars):
                yield kind(text=part.text[start : start + self._chunk_chars])


async def _hold(wait: Wait) -> None:
    if wait.reached is not None:
        wait.reached.set()
    await wait.event.wait()


def _stop_reason(reply: Turn | BreakAfter, parts: Sequence[Part]) -> str:
    if isinstance(reply, Turn) and reply.stop_reason:
        return reply.stop_reason
    return "tool_use" if any(isinstance(part, ToolCallPart) for part in parts) else "end_turn"
