"""A model behind HTTP: wire, transport and retry put together."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

import msgspec

from clew.llm.errors import BadResponse, LLMError, StreamBroken
from clew.llm.failures import failure_of, host_of, not_a_model, request_id_of
from clew.llm.http import Answer, Transport
from clew.llm.reply import Reply, ReplyEvent, ReplyStarted
from clew.llm.request import ModelRequest
from clew.llm.retry import RetryPolicy, Schedule, system_random
from clew.llm.sse import SseParser
from clew.llm.target import Target
from clew.llm.wires.base import Decoder, HttpRequest, call_ids, events_of
from clew.llm.wires.registry import wire_for
from clew.protocol.usage import Usage

MAX_ERROR_BYTES = 64 * 1024
MAX_STREAM_BYTES = 256 * 1024 * 1024
"""More than any model's output with its framing: a stream that goes on past this has lost its end."""
WHOLE_REPLY_PATIENCE_S = 600.0
"""A reply that is not streamed says nothing until it is done."""


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
        self._transport = Transport(target, idle_timeout_s=policy.idle_timeout_s)

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def window(self) -> int:
        return self.target.profile.window

    @property
    def max_output_tokens(self) -> int:
        return self.target.profile.max_output

    def cost_usd(self, usage: Usage) -> float | None:
        price = self.target.profile.price
        if price is None:
            return None
        if self.target.cache_ttl == "1h" and price.cache_write:  # long-lived entries cost twice the input price
            price = msgspec.structs.replace(price, cache_write=2 * price.input)
        return price.cost_usd(usage)

    async def close(self) -> None:
        await self._transport.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent]:
        """Retried until something of the reply was seen; from then on a failure is StreamBroken."""
        encoded = self._wire.encode(request, self.target, stream=True)
        taken = call_ids(request)
        schedule = Schedule(self._policy, request.purpose, self._random)
        while True:
            begun = False
            try:
                async with aclosing(self._attempt(encoded, taken)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except LLMError as error:
                if begun:
                    raise _broken(error) from error
                notice = schedule.after(error, reached=self._transport.reached)
            yield notice
            await self._sleep(notice.delay_s)

    async def complete(self, request: ModelRequest) -> Reply:
        encoded = self._wire.encode(request, self.target, stream=False)
        taken = call_ids(request)
        schedule = Schedule(self._policy, request.purpose, self._random)
        while True:
            try:
                patience_s = max(self._policy.idle_timeout_s, WHOLE_REPLY_PATIENCE_S)
                async with self._transport.open(encoded, patience_s=patience_s) as answer:
                    self._check_plain(answer)
                    async with self._in_time():
                        return await self._whole(answer, taken)
            except LLMError as error:
                notice = schedule.after(error, reached=self._transport.reached)
            await self._sleep(notice.delay_s)

    async def _attempt(self, encoded: HttpRequest, taken: frozenset[str]) -> AsyncGenerator[ReplyEvent]:
        """One request. ReplyStarted is held back until something follows it, so that a retry stays invisible."""
        async with self._transport.open(encoded) as answer:
            self._check_plain(answer)
            if not answer.ok or answer.content_type == "application/json":
                for event in events_of(await self._whole(answer, taken)):
                    yield event
                return
            if answer.content_type not in ("text/event-stream", ""):
                start = await answer.read(MAX_ERROR_BYTES)
                raise not_a_model(answer.content_type, start, self.target, wanted="an event stream")
            held: ReplyEvent | None = None
            request_id = request_id_of(answer.headers)
            async with aclosing(self._decoded(answer, self._wire.decoder(self.target, taken))) as events:
                async for event in events:
                    if isinstance(event, ReplyStarted):
                        held = msgspec.structs.replace(event, request_id=request_id)
                        continue
                    if held is not None:
                        yield held
                        held = None
                    yield event

    async def _decoded(self, answer: Answer, decoder: Decoder) -> AsyncGenerator[ReplyEvent]:
        parser = SseParser()
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

    def _check_plain(self, answer: Answer) -> None:
        """We ask for no compression: it would only delay a stream."""
        coding = answer.headers.get("content-encoding", "identity").lower()
        if coding not in ("identity", ""):
            raise BadResponse(f"{host_of(self.target)} answered compressed ({coding[:20]}), which was not asked for")

    async def _whole(self, answer: Answer, taken: frozenset[str]) -> Reply:
        if not answer.ok:
            body = await answer.read(MAX_ERROR_BYTES)
            raise failure_of(answer.status, answer.headers, body, self.target, now_s=self._now_s())
        body = await answer.read()
        if answer.content_type not in ("application/json", "") or body.lstrip()[:1] == b"<":
            raise not_a_model(answer.content_type, body[:MAX_ERROR_BYTES], self.target, wanted="JSON")
        reply = self._wire.decode(body, self.target, taken)
        return msgspec.structs.replace(reply, request_id=request_id_of(answer.headers))


def _broken(error: LLMError) -> StreamBroken:
    if isinstance(error, StreamBroken):
        return error
    return StreamBroken(str(error), status=error.status, request_id=error.request_id)
