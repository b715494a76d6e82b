"""Telling those who wait that nothing of a reply has come yet."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from clew.llm.reply import ReplyEvent, StillWaiting, UsageSeen
from clew.llm.retry import RetryPolicy


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
