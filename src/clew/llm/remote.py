"""A model behind HTTP: wire, transport and retry put together."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager

import msgspec

from clew.llm.errors import AuthenticationFailed, BadResponse, EmptyReply, InvalidRequest, LLMError, StreamBroken
from clew.llm.failures import failure_of, host_of, not_a_model, request_id_of
from clew.llm.http.sse import BYTE_ORDER_MARK, SseParser
from clew.llm.http.transport import HttpResponse, Transport
from clew.llm.models.target import Target, Thinks
from clew.llm.reply import (
    Reply,
    ReplyDone,
    ReplyEvent,
    ReplyStarted,
    Retrying,
    StillWaiting,
    UsageSeen,
    collected,
)
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy, Schedule, system_random
from clew.llm.text_calls import TextCallLift
from clew.llm.wires.base import Decoder, HttpRequest, history_for
from clew.llm.wires.registry import parser_for, wire_for
from clew.protocol.messages import Message
from clew.protocol.usage import Usage

MAX_ERROR_BYTES = 64 * 1024
MAX_STREAM_BYTES = 256 * 1024 * 1024
"""More than any model's output with its framing: a stream that goes on past this has lost its end."""
WHOLE_REPLY_PATIENCE_S = 600.0
"""A reply that is not streamed says nothing until it is done."""
MAX_SIDE_QUERY_CHARS = 60_000
STREAM_TYPES = {
    "sse": ("text/event-stream", ""),
    "aws-event-stream": ("application/vnd.amazon.eventstream",),
}
"""What a stream of each framing calls itself."""
CHARS_PER_TOKEN = 3
"""On the safe side for code and for most scripts."""


class RemoteModel:
    """One model of one provider (see `llm.model.Model`)."""

    def __init__(
        self,
        target: Target,
        policy: RetryPolicy,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = system_random,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self.target = target
        self._policy = policy
        self._sleep = sleep
        self._random = random
        self._now_s = now_s
        self._wire = wire_for(target.dialect)
        self._transport = Transport(target)

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def thinks(self) -> Thinks:
        return self.target.thinks

    @property
    def window(self) -> int:
        return self.target.profile.window

    @property
    def max_output_tokens(self) -> int:
        return self.target.profile.max_output

    @property
    def side_query_timeout_s(self) -> float:
        return self.target.patience.side_query_s

    @property
    def side_query_chars(self) -> int:
        """At most a quarter of the window: a small model loses the thread long before it is full."""
        return min(MAX_SIDE_QUERY_CHARS, self.window // 4 * CHARS_PER_TOKEN)

    @property
    def lifts_text_calls(self) -> bool:
        return self.target.quirks.text_calls

    def sent_effort(self, effort: str | None) -> str | None:
        return self.target.profile.clamp_effort(effort)

    def history(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return history_for(messages, self.target)

    def cost_usd(self, usage: Usage) -> float | None:
        price = self.target.profile.price
        if price is None:
            return None
        if self.target.cache_ttl == "1h" and price.cache_write:  # long-lived entries cost twice the input price
            price = msgspec.structs.replace(price, cache_write=2 * price.input)
        return price.cost_usd(usage)

    async def close(self) -> None:
        await self._transport.close()

    async def complete(self, request: ModelRequest) -> Reply:
        async with aclosing(self.stream(request, whole=True)) as events:
            return await collected(events)

    async def stream(self, request: ModelRequest, *, whole: bool = False) -> AsyncGenerator[ReplyEvent]:
        """Retried until something of the reply was seen; from then on a failure is StreamBroken."""
        encoded = self._wire.encode(request, self.target, stream=not whole)
        is_last = self.target.dialect != "gemini"
        names = frozenset(tool.name for tool in request.tools) if self.lifts_text_calls else frozenset[str]()
        schedule = Schedule(self._policy, request.purpose, self._random)
        renewed = False
        while True:
            begun = False
            try:
                tried = self._attempt(encoded, TextCallLift(names), whole=whole, takes_nothing=is_last)
                attempt = tell_waiting(tried, self._policy)
                async with aclosing(attempt) as events:
                    async for event in events:
                        begun = begun or isinstance(event, ReplyStarted)
                        yield event
                return
            except LLMError as error:
                if begun:
                    raise _broken(error) from error
                if isinstance(error, AuthenticationFailed) and not renewed and self._transport.renew_key():
                    renewed = True  # its time was over: once more with a new one, and nobody need know
                    continue
                if self._learns(error):
                    encoded = self._wire.encode(request, self.target, stream=not whole)
                    continue
                if isinstance(error, EmptyReply):
                    is_last = True
                    yield Retrying(attempt=2, max_attempts=2, delay_s=0.0, reason=str(error))
                    continue
                notice = schedule.after(error, reached=self._transport.reached)
            yield notice
            await self._sleep(notice.delay_s)

    def _learns(self, error: LLMError) -> bool:
        """Whether the server does not know a field that only says more: it is left out from now on."""
        quirks = self.target.quirks
        if not isinstance(error, InvalidRequest) or not quirks.stream_usage or self.target.dialect != "openai-chat":
            return False
        if "stream_options" not in str(error) and "include_usage" not in str(error):
            return False
        quirks = msgspec.structs.replace(quirks, stream_usage=False)
        self.target = msgspec.structs.replace(self.target, quirks=quirks)
        return True

    async def _attempt(
        self, encoded: HttpRequest, lift: TextCallLift, *, whole: bool, takes_nothing: bool
    ) -> AsyncGenerator[ReplyEvent]:
        """One request. ReplyStarted is held back until something follows it, so that a retry stays invisible.
        `takes_nothing`: a reply without anything in it is one; else it raises EmptyReply."""
        begin_s = self._policy.begin_timeout_s or self.target.patience.begin_s
        if whole:
            begin_s = max(begin_s, WHOLE_REPLY_PATIENCE_S)
        async with self._transport.open(encoded, idle_s=begin_s) as answer:
            held: ReplyEvent | None = None
            request_id = request_id_of(answer.headers)
            async with aclosing(self._answered(answer, whole=whole)) as events:
                async for decoded in events:
                    for event in lift.feed(decoded):
                        if isinstance(event, ReplyStarted):
                            held = msgspec.structs.replace(event, request_id=request_id)
                            continue
                        if held is not None and not takes_nothing and is_empty(event):
                            raise EmptyReply(f"{self.name} ended its reply without saying anything")
                        if held is not None and not isinstance(event, UsageSeen):
                            yield held
                            held = None
                        yield event

    async def _answered(self, answer: HttpResponse, *, whole: bool) -> AsyncGenerator[ReplyEvent]:
        """The events of one answer, whether it came in pieces, was asked for whole, or came whole all the same."""
        self._check_plain(answer)
        if whole and not (answer.ok and answer.content_type == "text/event-stream"):
            async with self._in_time():
                events = await self._whole(answer)
        elif not answer.ok or answer.content_type == "application/json":
            events = await self._whole(answer)
        elif answer.content_type in STREAM_TYPES[self.target.endpoint.framing]:
            async with aclosing(self._decoded(answer, self._wire.decoder(self.target))) as decoded:
                async for event in decoded:
                    yield event
            return
        else:
            start = await answer.read(MAX_ERROR_BYTES)
            raise not_a_model(answer.content_type, start, self.target, wanted="an event stream")
        for event in events:
            yield event

    async def _decoded(self, answer: HttpResponse, decoder: Decoder) -> AsyncGenerator[ReplyEvent]:
        parser = parser_for(self.target.endpoint.framing)
        size, heard_s = 0, time.monotonic()
        async for data in answer.chunks():
            size += len(data)
            if size > MAX_STREAM_BYTES:
                raise StreamBroken(f"{host_of(self.target)} sent {size:,} bytes without ending the reply")
            if time.monotonic() - heard_s > self._policy.stall_timeout_s:
                raise self._stalled()
            for sse in parser.feed(data):
                heard_s = heard_s if sse.event == "ping" else time.monotonic()
                for event in decoder.feed(sse):
                    if not isinstance(event, ReplyStarted | UsageSeen):  # it has begun: from now on words keep coming
                        answer.idle_s = self._policy.idle_timeout_s
                    yield event
                if decoder.done:
                    await answer.drain()
                    return
        try:
            for sse in parser.close():
                for event in decoder.feed(sse):
                    yield event
            for event in decoder.finish():
                yield event
        except StreamBroken as error:  # the bytes ended early: the same request may well succeed
            error.retryable = True
            raise

    @asynccontextmanager
    async def _in_time(self) -> AsyncGenerator[None]:
        """A body that comes drop by drop is not waited for either."""
        limit = asyncio.timeout(self._policy.stall_timeout_s)
        try:
            async with limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise self._stalled() from None
            raise

    def _stalled(self) -> StreamBroken:
        limit_s = self._policy.stall_timeout_s
        return StreamBroken(f"{host_of(self.target)} kept the connection for {limit_s:g} s without going on")

    def _check_plain(self, answer: HttpResponse) -> None:
        """We ask for no compression: it would only delay a stream."""
        coding = answer.headers.get("content-encoding", "identity").lower()
        if coding not in ("identity", ""):
            raise BadResponse(f"{host_of(self.target)} answered compressed ({coding[:20]}), which was not asked for")

    def _events_in(self, body: bytes) -> list[ReplyEvent]:
        """A stream that came as one body, under whatever type."""
        parser, decoder = SseParser(), self._wire.decoder(self.target)
        events = [event for sse in (*parser.feed(body), *parser.close()) for event in decoder.feed(sse)]
        return events if decoder.done else [*events, *decoder.finish()]

    async def _whole(self, answer: HttpResponse) -> list[ReplyEvent]:
        if not answer.ok:
            body = await answer.read(MAX_ERROR_BYTES)
            raise failure_of(answer.status, answer.headers, body, self.target, now_s=self._now_s())
        body = (await answer.read()).removeprefix(BYTE_ORDER_MARK)
        if self.target.endpoint.framing == "sse" and body.lstrip().startswith((b"data:", b"event:")):
            return self._events_in(body)
        if answer.content_type not in ("application/json", "") or body.lstrip()[:1] == b"<":
            raise not_a_model(answer.content_type, body[:MAX_ERROR_BYTES], self.target, wanted="JSON")
        return self._wire.decode(body, self.target)


def is_empty(event: ReplyEvent) -> bool:
    """Whether a reply that holds nothing so far ends with this as if it were an answer."""
    return isinstance(event, ReplyDone) and event.stop_reason == "end_turn"


def _broken(error: LLMError) -> LLMError:
    """A failure in the middle of a reply. One that no new try would change stays what it is."""
    if isinstance(error, StreamBroken | InvalidRequest | AuthenticationFailed):
        return error
    return StreamBroken(str(error), status=error.status, request_id=error.request_id)


async def tell_waiting(events: AsyncGenerator[ReplyEvent], policy: RetryPolicy) -> AsyncGenerator[ReplyEvent]:
    """The same events, with a StillWaiting at each moment of the policy until the reply begins."""
    async with aclosing(events):
        moments = _moments(policy)
        started, due_s = time.monotonic(), next(moments)
        begun = False
        while not begun:
            step = asyncio.create_task(_next(events))
            try:
                while not (await asyncio.wait({step}, timeout=max(0.0, started + due_s - time.monotonic())))[0]:
                    yield StillWaiting(seconds=due_s)
                    due_s = next(moments)
            finally:
                await _ended(step)
            event = step.result()
            if event is None:
                return
            begun = not isinstance(event, UsageSeen)
            yield event
        async for event in events:
            yield event


def _moments(policy: RetryPolicy) -> Iterator[float]:
    moment_s = 0.0
    for moment_s in policy.told_after_s:
        yield moment_s
    while True:
        moment_s += policy.told_every_s
        yield moment_s


async def _next(events: AsyncGenerator[ReplyEvent]) -> ReplyEvent | None:
    return await anext(events, None)


async def _ended(step: asyncio.Task[ReplyEvent | None]) -> None:
    """Nobody waits any more: the step ends with us, and its failure is not reported a second time, also when it ended
    in the moment in which we were told to stop."""
    if not step.done():
        step.cancel()
        await asyncio.wait({step})
    if not step.cancelled():
        step.exception()
