"""Copying in plain mode: the text goes to whoever takes it while the line stays usable, and what came of it is told."""

import asyncio
from collections.abc import Callable, Sequence

from clew.commands.copy import copied_line, lost_lines
from clew.plain.dialogs.dialog import Shown
from clew.plain.line.screen import Screen
from clew.system.clipboard import Copy


class LineCopier:
    """Copies one text after the other beside the loop: a clipboard program may take seconds, or hang."""

    def __init__(self, screen: Screen, show: Callable[[Sequence[Shown]], None]) -> None:
        self._screen = screen
        self._show = show
        self._one_by_one = asyncio.Lock()
        self._under_way: set[asyncio.Task[None]] = set()

    def copy(self, text: str) -> None:
        """Copy a text that is safe; what came of it is printed when it is known."""
        if not self._screen.has_line:
            self._show(copy_shown(Copy(), text))
            return
        task = asyncio.get_running_loop().create_task(self._copied(text))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _copied(self, text: str) -> None:
        codes: list[str] = []
        async with self._one_by_one:
            done = await asyncio.to_thread(self._screen.copy, text, codes.append)
        for code in codes:  # here, because the thread would write into the middle of a line
            self._screen.send_codes(code)
        self._show(copy_shown(done, text))
        self._screen.redraw_input()


def copy_shown(done: Copy, text: str) -> list[Shown]:
    """The lines to print after a copy; the text is safe."""
    if not (done.way or done.sent or done.file):
        return [Shown("The clipboard cannot be reached from here; the text:", "warning"), Shown(text)]
    return [Shown(copied_line(done, text), "dim"), *(Shown(line, "dim") for line in lost_lines(done))]
