"""Signals of a run without a screen: one wish is heard once, and a later one means it."""

import asyncio
import os
import signal
import threading

import pytest

from clew.headless import stop_signals as stopping
from clew.protocol.ops import Interrupt
from fakes.loop_clock import LoopClock
from unit.headless.program import WrittenSession


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where the process would have ended."""
    codes: list[int] = []
    monkeypatch.setattr(stopping.os, "_exit", codes.append)
    return codes


async def sent(*numbers: signal.Signals) -> None:
    """As if somebody else had sent them; the loop has heard each."""
    for number in numbers:
        os.kill(os.getpid(), number)
        for _ in range(3):
            await asyncio.sleep(0)


async def test_signals_that_come_together_are_one_wish_and_a_later_one_quits(exits: list[int]) -> None:
    client, clock = WrittenSession(), LoopClock()
    clock.stop()
    with stopping.interrupts(client) as wanted:
        await sent(signal.SIGTERM, signal.SIGTERM, signal.SIGINT)
        await wanted.wanted.wait()
        assert len(client.asked(Interrupt)) == 1
        assert exits == []
        clock.forward(stopping.TOGETHER_S)
        await sent(signal.SIGTERM)
        assert exits == [stopping.INTERRUPTED_CODE]
    assert len(client.asked(Interrupt)) == 1


async def test_a_signal_that_was_held_counts_as_soon_as_somebody_listens(exits: list[int]) -> None:
    client = WrittenSession()
    stopping.hold_signals()
    # To this thread: the others of a test's process hold nothing. Without being held it would end the tests.
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    with stopping.interrupts(client) as wanted:
        await wanted.wanted.wait()
        await asyncio.sleep(0)
    assert (len(client.asked(Interrupt)), exits) == (1, [])
