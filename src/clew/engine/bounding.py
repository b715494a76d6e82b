"""Keeps tool results within bounds: the rest goes to a file that the model can read."""

import os
import re
from pathlib import Path

from clew.protocol.ids import CallId
from clew.transcript.files import make_private_dir

EMPTY_RESULT = "(no output)"
"""Some models end their turn silently on an empty result."""
PREVIEW_CHARS = 2_000
MAX_BATCH_CHARS = 200_000
"""All results of one step together."""


class ResultBounds:
    """Decides once per result, when it arrives, and never again: bytes already sent do not change."""

    def __init__(self, results_dir: Path | None) -> None:
        self._dir = results_dir
        self._batch_chars = 0

    def start_batch(self) -> None:
        """A new step: its results are counted together."""
        self._batch_chars = 0

    def bound(self, call_id: CallId, text: str, *, max_chars: int) -> str:
        """The text to send: as it is, or a preview and the place of the whole."""
        if not text.strip():
            return EMPTY_RESULT
        over = bool(max_chars) and len(text) > max_chars
        if over or self._batch_chars + len(text) > MAX_BATCH_CHARS:
            text = self._preview(call_id, text)
        self._batch_chars += len(text)
        return text

    def _preview(self, call_id: CallId, text: str) -> str:
        head = text[:PREVIEW_CHARS]
        cut = head.rfind("\n")
        head = head[:cut] if cut > PREVIEW_CHARS // 2 else head
        place = self._spill(call_id, text)
        if place is None:
            return text if self._dir else f"{head}\n[{len(text) - len(head)} more characters, not kept]"
        return (
            f"{head}\n[The result has {len(text)} characters; above are the first {len(head)}. "
            f"The whole text is in {place}: read the part you need.]"
        )

    def _spill(self, call_id: CallId, text: str) -> Path | None:
        """Exclusive create: a repeat is a no-op. None when it cannot be saved; then the full text is sent."""
        if self._dir is None:
            return None
        path = self._dir / f"{re.sub(r'[^A-Za-z0-9_-]', '_', call_id)[:128]}.txt"
        try:
            make_private_dir(self._dir)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
        except FileExistsError:
            return path
        except OSError:
            return None
        return path
