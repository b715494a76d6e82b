"""Signals: the first one interrupts the turn cleanly, a second one quits at once."""

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

from clew.protocol.client import Client
from clew.protocol.ops import Interrupt

INTERRUPTED_CODE = 130
TOGETHER_S = 0.5
"""Signals this close are one wish: shells, `timeout` and wrappers tell the process and its whole group."""
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


class StopSignals:
    """Whether somebody wants this process to end."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()


def hold_signals() -> None:
    """None is lost and none strikes where nobody could answer it: it counts as soon as a run listens."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


@contextmanager
def interrupts(client: Client) -> Generator[StopSignals]:
    """Ctrl-C once interrupts the turn; so do SIGTERM and a terminal that closes. The result is still printed."""
    loop = asyncio.get_running_loop()
    stopping = StopSignals()
    pending: set[asyncio.Task[None]] = set()
    first_s = 0.0

    def interrupt() -> None:
        nonlocal first_s
        if not stopping.wanted.is_set():
            first_s = loop.time()
            stopping.wanted.set()
            pending.add(loop.create_task(client.submit(Interrupt())))
        elif loop.time() - first_s >= TOGETHER_S:
            os._exit(INTERRUPTED_CODE)

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it is meant to go on
        signals.append(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        yield stopping
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
