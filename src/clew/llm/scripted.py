"""A model played in-process from a small script: for tests of the engine and for `clew tour`.

    model = ScriptedModel([
        ReplyOf([Think("look first"), Say("I will read it."), Call("Read", {"file_path": "x"})]),
        Fail(Overloaded("no capacity")),
        Say("Done."),
    ])

Every request takes the next reply of the script; a bare Say, Think or Call is a reply of one part. A function in the
script receives the request and returns the reply. `stream()` and `complete()` take from the same script. Retrying,
StillWaiting and UsageSeen among the parts are told at their place.

Like every wire it gets a history that is valid for a request: `requests` and the functions see that one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from clew.llm.errors import InvalidRequest, LLMError
from clew.llm.models.target import Thinks
from clew.llm.reply import (
    ArgumentsChunk,
    PartDone,
    ReasoningChunk,
    Reply,
    ReplyDone,
    ReplyEvent,
    ReplyStarted,
    Retrying,
    StillWaiting,
    TextChunk,
    UsageSeen,
    collected,
)
from clew.llm.request import ModelRequest
from clew.llm.text_calls import TextCallLift
from clew.protocol.history import valid_history
from clew.protocol.ids import CallId
from clew.protocol.messages import AssistantMessage, Message, Part, ReasoningPart, TextPart, ToolCallPart
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


Told = Retrying | StillWaiting | UsageSeen
Scripted = Say | Think | Call | Wait | Pause | Told | Part


class ReplyOf(Struct, frozen=True):
    """A whole reply of several parts."""

    parts: Sequence[Scripted]
    stop_reason: str = ""
    """Empty: `tool_use` when there is a call, else `end_turn`."""
    usage: Usage | None = DEFAULT_USAGE
    message_id: str | None = None
    """What the provider calls it; None: `msg_1`, `msg_2`, ... by request."""


class Fail(Struct, frozen=True):
    """The request fails before anything was answered."""

    error: LLMError


class BreakAfter(Struct, frozen=True):
    """The stream breaks after these parts; asked without streaming, the request fails outright."""

    parts: Sequence[Scripted]
    error: LLMError
    message_id: str | None = None


ScriptedReply = Say | Think | Call | ReplyOf | Fail | BreakAfter
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
        side_query_timeout_s: float = 15.0,
        side_query_chars: int = 60_000,
        lifts_text_calls: bool = False,
        thinks: Thinks = "if asked",
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self.name = name
        self.window = window
        self.max_output_tokens = max_output_tokens
        self.side_query_timeout_s = side_query_timeout_s
        self.side_query_chars = side_query_chars
        self.lifts_text_calls = lifts_text_calls
        self.thinks: Thinks = thinks
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

    async def stream(self, request: ModelRequest, *, whole: bool = False) -> AsyncGenerator[ReplyEvent]:
        """Play the next reply piece by piece, or all of it at its end."""
        reply = self._next(request)
        if isinstance(reply, Fail) or (whole and isinstance(reply, BreakAfter)):
            raise reply.error
        names = frozenset(tool.name for tool in request.tools) if self.lifts_text_calls else frozenset[str]()
        lift = TextCallLift(names)
        finished = False
        try:
            kept: list[ReplyEvent] = []
            async with aclosing(self._played(reply, whole=whole)) as events:
                async for played in events:
                    if whole and not isinstance(played, Told):
                        kept += lift.feed(played)
                        continue
                    for event in lift.feed(played):
                        yield event
            finished = True
            for event in kept:
                yield event
        except LLMError:
            finished = True
            raise
        finally:
            self.closed_streams += not finished

    async def complete(self, request: ModelRequest) -> Reply:
        """Play the next reply as a whole."""
        async with aclosing(self.stream(request, whole=True)) as events:
            return await collected(events)

    async def _played(self, reply: ReplyOf | BreakAfter, *, whole: bool) -> AsyncGenerator[ReplyEvent]:
        started = False
        parts: list[Part] = []
        for item in reply.parts:
            if isinstance(item, Told):
                yield item
                continue
            if not started:
                started = True
                yield self._started(reply)
            if isinstance(item, Wait):
                await _hold(item)
            elif isinstance(item, Pause):
                await self._sleep(item.seconds)
            else:
                part, index = self._part(item), len(parts)
                parts.append(part)
                for event in self._chunks(part, index, whole=whole):
                    yield event
                yield PartDone(part=part, index=index)
        if not started:
            yield self._started(reply)
        if isinstance(reply, BreakAfter):
            raise reply.error
        yield ReplyDone(stop_reason=_stop_reason(reply, parts), usage=reply.usage, model=self.name)

    def sent_effort(self, effort: str | None) -> str | None:
        return effort

    def history(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Valid for a request; reasoning only of its own."""
        return valid_history(messages, keeps=self._wrote)

    def cost_usd(self, usage: Usage) -> float | None:
        """The same price for every token; None unless one was given."""
        if self._usd_per_token is None:
            return None
        return (usage.prompt_tokens + usage.output_tokens) * self._usd_per_token

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _next(self, request: ModelRequest) -> ReplyOf | Fail | BreakAfter:
        request = msgspec.structs.replace(request, messages=self.history(request.messages))
        self.requests.append(request)
        if not self._script:
            raise InvalidRequest(f"The script of {self.name} has no reply for request {len(self.requests)}.")
        item = self._script.pop(0)
        reply = item(request) if callable(item) else item
        return ReplyOf([reply]) if isinstance(reply, Say | Think | Call) else reply

    def _wrote(self, reply: AssistantMessage, _: Part) -> bool:
        return reply.model == self.name

    def _started(self, reply: ReplyOf | BreakAfter) -> ReplyStarted:
        number = len(self.requests)
        message_id = f"msg_{number}" if reply.message_id is None else reply.message_id
        return ReplyStarted(message_id=message_id, model=self.name, request_id=f"req_{number}")

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

    def _chunks(self, part: Part, index: int, *, whole: bool) -> Iterable[ReplyEvent]:
        match part:
            case TextPart():
                yield from (TextChunk(text=piece, part=index) for piece in self._pieces(part.text, whole=whole))
            case ReasoningPart():
                yield from (ReasoningChunk(text=piece, part=index) for piece in self._pieces(part.text, whole=whole))
            case ToolCallPart() if not whole:
                text = part.raw_arguments or msgspec.json.encode(part.arguments).decode()
                for piece in self._pieces(text, whole=False):
                    yield ArgumentsChunk(part=index, name=part.name, text=piece, call_id=part.id)
            case _:
                pass

    def _pieces(self, text: str, *, whole: bool) -> Iterable[str]:
        size = max(1, len(text)) if whole else self._chunk_chars
        return (text[start : start + size] for start in range(0, len(text), size))


async def _hold(wait: Wait) -> None:
    if wait.reached is not None:
        wait.reached.set()
    await wait.event.wait()


def _stop_reason(reply: ReplyOf | BreakAfter, parts: Sequence[Part]) -> str:
    if isinstance(reply, ReplyOf) and reply.stop_reason:
        return reply.stop_reason
    return "tool_use" if any(isinstance(part, ToolCallPart) for part in parts) else "end_turn"
