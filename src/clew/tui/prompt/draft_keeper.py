"""Keeping the unsent text on disk while it is typed: soon after a change, never on the way of a key."""

import asyncio
from collections.abc import Callable

from textual.timer import Timer

from clew.composing.draft import Draft, DraftFile
from clew.tui.prompt.edit_area import EditArea

SAVE_AFTER_S = 0.5


class DraftKeeping:
    """One write at a time, from a thread; what changes meanwhile is written afterwards."""

    def __init__(self, area: EditArea, unsent: Callable[[], str]) -> None:
        self._area = area
        self._unsent = unsent
        self._file: DraftFile | None = None
        self._timer: Timer | None = None
        self._lock = asyncio.Lock()

    def begin(self, file: DraftFile, *, now_s: float) -> Draft | None:
        """Keep the text here from now on; what was left unsent. A session that is switched takes its text along."""
        before, self._file = self._file, file
        left = file.open(now_s=now_s)
        if before is not None:
            before.save("", {})
            before.close()
        self.changed()
        return left

    def changed(self) -> None:
        """The text is another one now."""
        if self._file is not None and self._timer is None and self._area.is_mounted:
            self._timer = self._area.set_timer(SAVE_AFTER_S, self._due)

    def sent(self) -> None:
        """The text went off: what is on disk is no draft any more, and a crash must not bring it back."""
        if self._file is not None and self._area.is_mounted:
            self._area.run_worker(self._save(), group="draft")

    def _due(self) -> None:
        self._timer = None
        self._area.run_worker(self._save(), group="draft")

    async def _save(self) -> None:
        async with self._lock:
            file, text = self._file, self._unsent()
            if file is not None:
                await asyncio.to_thread(file.save, text, self._area.pastes.used(text))

    def finish(self) -> None:
        """The last word, at once: the prompt goes."""
        if self._file is not None:
            text = self._unsent()
            self._file.save(text, self._area.pastes.used(text))
            self._file.close()
            self._file = None
