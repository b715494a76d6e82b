"""Limits of calls: silence ends them, signs of life and a person's time do not."""

import asyncio

import pytest

from clew.mcp.transport.call_clocks import CallClocks
from fakes.loop_clock import LoopClock

LIMIT_S = 600.0


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Call:
    """One call that its server has not answered."""

    def __init__(self, clocks: CallClocks) -> None:
        self.lives = lambda: None
        self.task = asyncio.create_task(self._run(clocks))

    async def _run(self, clocks: CallClocks) -> None:
        async with clocks.limit(LIMIT_S) as self.lives:
            await asyncio.Event().wait()

    async def is_given_up(self) -> bool:
        await turns()
        return self.task.done() and isinstance(self.task.exception(), TimeoutError)


async def test_silence_ends_a_call_and_signs_of_life_do_not() -> None:
    clock, clocks = LoopClock(), CallClocks()
    call = Call(clocks)
    await turns()
    for _ in range(3):
        clock.forward(LIMIT_S - 1)
        call.lives()
        assert not await call.is_given_up()
    clock.forward(LIMIT_S + 1)
    assert await call.is_given_up()


async def test_the_time_of_a_person_is_not_the_servers() -> None:
    clock, clocks = LoopClock(), CallClocks()
    call = Call(clocks)
    await turns()
    clock.forward(LIMIT_S - 1)
    with clocks.person():
        later = Call(clocks)
        await turns()
        with clocks.person():
            clock.forward(LIMIT_S * 10)
            await turns()
        clock.forward(LIMIT_S * 10)
        call.lives()
        clock.forward(LIMIT_S * 10)
        assert not await call.is_given_up()
    clock.forward(LIMIT_S - 1)
    assert not await call.is_given_up()
    assert not await later.is_given_up()
    clock.forward(2)
    assert await call.is_given_up()
    assert await later.is_given_up()
    with clocks.person():
        pass  # nothing runs any more


async def test_a_call_that_is_stopped_leaves_no_limit() -> None:
    clocks = CallClocks()
    call = Call(clocks)
    await turns()
    call.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call.task
    with clocks.person():
        pass
