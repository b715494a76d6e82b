"""Waiting for a reply: whoever stops waiting hears nothing of it any more."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncGenerator
from typing import Any

from clew.llm.errors import StreamBroken
from clew.llm.remote import tell_waiting
from clew.llm.reply import ReplyEvent, TextChunk
from clew.llm.retry import RetryPolicy


async def test_a_failure_in_the_moment_of_an_interrupt_is_not_reported_by_the_loop() -> None:
    """Interrupted after n turns of the loop, for every n until the failure comes first."""
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    for ticks in range(12):
        broken = asyncio.Event()

        async def events(broken: asyncio.Event = broken) -> AsyncGenerator[ReplyEvent]:
            await broken.wait()
            raise StreamBroken("cut")
            yield TextChunk(text="never")

        waiting = asyncio.ensure_future(anext(tell_waiting(events(), RetryPolicy())))
        for _ in range(5):
            await asyncio.sleep(0)
        broken.set()
        for _ in range(ticks):
            await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, StreamBroken):
            await waiting
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []
