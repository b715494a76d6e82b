"""The way in: a Client on one side, this process's terminal on the other, signals in between."""

import asyncio
import os
import signal
import sys
from contextlib import ExitStack
from typing import Literal, TextIO

from clew.plain.line.terminal import StdTerminal
from clew.plain.options import PlainOptions
from clew.plain.session import PlainSession
from clew.protocol.client import Client


async def run_plain(
    client: Client,
    *,
    options: PlainOptions | None = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
) -> int:
    """Talk until the session ends; the exit code. The terminal is left as it was found, whatever happens."""
    options = options or PlainOptions(env=os.environ)
    with ExitStack() as opened:
        source = stdin or sys.stdin or opened.enter_context(_nothing("r"))
        target = stdout or sys.stdout or opened.enter_context(_nothing("w"))
        return await _talk(client, StdTerminal(source, target, options.env), options)


def _nothing(mode: Literal["r", "w"]) -> TextIO:
    """In place of a stdin or stdout that was closed before this process started."""
    return open(os.devnull, mode, encoding="utf-8")


async def _talk(client: Client, terminal: StdTerminal, options: PlainOptions) -> int:
    """Signals become entries of the session's queue while it runs."""
    session = PlainSession(client, terminal, options)
    loop = asyncio.get_running_loop()

    def suspend() -> None:
        # The terminal belongs to the shell while we are stopped.
        terminal.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        session.post("resumed")

    handlers = {
        signal.SIGINT: lambda: session.post("interrupt"),
        signal.SIGTERM: lambda: session.post("terminate"),
        signal.SIGHUP: lambda: session.post("terminate"),
    }
    if terminal.interactive:
        handlers[signal.SIGTSTP] = suspend
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        return await session.run()
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)
