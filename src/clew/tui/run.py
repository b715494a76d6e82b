"""The way in: a Client on one side, the whole terminal on the other, signals in between."""

import asyncio
import signal

from clew.protocol.client import Client
from clew.protocol.ops import Close
from clew.tui.app import ClewApp
from clew.tui.options import ScreenOptions

EXIT_INTERRUPTED = 130


async def run_screen(client: Client, options: ScreenOptions) -> int:
    """Until the session ends; the exit code. The terminal is left as it was found, whatever happens."""
    app = ClewApp(client, options)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, app.stopping.close, EXIT_INTERRUPTED)
    loop.add_signal_handler(signal.SIGINT, app.stopping.ctrl_c)
    try:
        code = await app.run_async(mouse=options.screen.mouse)
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.remove_signal_handler(number)
        if not app.stopping.closing and not app.over:
            app.conversation.send(Close())  # the screen broke: what was said is written in order all the same
        await app.conversation.link.finish(options.close_timeout_s)
        fault = app.failure()
        await app.conversation.link.stop()
    if fault is not None:
        raise fault
    if app.last_words:
        print(app.last_words)  # noqa: T201 - the screen is gone, this is the shell's
    return code if code is not None else 1
