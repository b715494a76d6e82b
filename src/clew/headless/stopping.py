"""Signals: the first one interrupts the turn cleanly, a second one quits at once."""

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

from clew.protocol.client import Client
from clew.protocol.ops import Interrupt

INTERRUPTED_CODE = 130


class Stopping:
    """Whether somebody wants this process to end."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()


@contextmanager
def interrupts(client: Client) -> Generator[Stopping]:
    """Ctrl-C once interrupts the turn; so do SIGTERM and a terminal that closes. The result is still printed."""
    loop = asyncio.get_running_loop()
    stopping = Stopping()
    pending: set[asyncio.Task[None]] = set()

    def interrupt() -> None:
        if stopping.wanted.is_set():
            os._exit(INTERRUPTED_CODE)
        stopping.wanted.set()
        pending.add(loop.create_task(client.submit(Interrupt())))

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it is meant to go on
        signals.append(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, interrupt)
    try:
        yield stopping
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
