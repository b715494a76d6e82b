"""Copying: the text goes to whoever takes it here, and the person is told who did, or what to set."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from clew.commands.copy import copied_line, lost_lines
from clew.system.clipboard import copy_text
from clew.tui.conversation import ScreenConversation
from clew.tui.reading.drawing import Drawing


class Copier:
    """Copies one text after the other, so that the last one is what is pasted."""

    def __init__(
        self,
        conversation: ScreenConversation,
        drawing: Drawing,
        *,
        env: Mapping[str, str],
        home: Path | None,
        send: Callable[[str], None],
    ) -> None:
        self._conversation = conversation
        self._drawing = drawing
        self._env = env
        self._home = home
        self._send = send
        """Writes to the terminal."""
        self._one_by_one = asyncio.Lock()
        self._told: set[tuple[str, ...]] = set()
        """What was said about a clipboard that is not there: once is enough."""

    async def copy(self, text: str) -> None:
        """Copy a text that is safe, and say what came of it."""
        async with self._one_by_one:
            done = await asyncio.to_thread(copy_text, text, self._env, home=self._home, send=self._send)
        self._drawing.hint(copied_line(done, text))
        lines = lost_lines(done)
        if lines and lines not in self._told:
            self._told.add(lines)
            self._conversation.remark(lines)
            self._drawing.soon()
