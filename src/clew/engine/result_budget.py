"""Keeps tool results within bounds: the rest goes to a file that the model can read (spec/systems.md, section 9)."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from clew.protocol.events import ResultReplaced
from clew.protocol.ids import CallId
from clew.protocol.messages import ResultContent, TextPart, ToolResultPart, result_text
from clew.system.private_files import private_dir

EMPTY_RESULT = "(no output)"
"""Some models end their turn silently on an empty result."""
PREVIEW_CHARS = 2_000
MAX_BATCH_CHARS = 200_000
"""All results that will stand in one message of a request together."""


class ResultBudget:
    """Decides once per result and never again: bytes already sent do not change. One per step."""

    def __init__(self, results_dir: Path | None) -> None:
        self._dir = results_dir

    def bound(self, call_id: CallId, text: str, *, max_chars: int) -> str:
        """The text of one result: as it is, or a preview and the place of the whole."""
        if not text.strip():
            return EMPTY_RESULT
        return self._preview(call_id, text) if max_chars and len(text) > max_chars else text

    def fit(self, results: list[ToolResultPart]) -> list[ResultReplaced]:
        """What must stand for some results so that all of them fit together; the largest give way first."""
        sizes = {result.call_id: len(result_text(result)) for result in results}
        total = sum(sizes.values())
        replaced: list[ResultReplaced] = []
        for result in sorted(results, key=lambda item: -sizes[item.call_id]):
            if total <= MAX_BATCH_CHARS:
                break
            text, keeps_media = _words(result)
            preview = self._preview(result.call_id, text)
            if len(preview) < len(text):
                event = ResultReplaced(call_id=result.call_id, replacement=preview, keeps_media=keeps_media)
                replaced.append(event)
                total -= len(text) - len(preview)
        return replaced

    def _preview(self, call_id: CallId, text: str) -> str:
        """Never longer than the text. The whole text where it should be saved and cannot be."""
        head = text[:PREVIEW_CHARS]
        cut = head.rfind("\n")
        head = head[:cut] if cut > PREVIEW_CHARS // 2 else head
        if self._dir is None:
            preview = f"{head}\n[{len(text) - len(head)} more characters, not kept]"
            return preview if len(preview) < len(text) else text
        for path in self._places(call_id, text):
            preview = (
                f"{head}\n[The result has {len(text)} characters; above are the first {len(head)}. "
                f"The whole text is in {path}: read the part you need.]"
            )
            if len(preview) >= len(text):
                return text
            if (saved := _spill(path, text)) is not None:
                return preview if saved else text
        return text

    def _places(self, call_id: CallId, text: str) -> Iterator[Path]:
        """Where the text may lie. Another agent of the session may have used this call id for another text."""
        assert self._dir is not None
        name = re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:128]
        yield self._dir / f"{name}.txt"
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        yield self._dir / f"{name}-{digest}.txt"


def _spill(path: Path, text: str) -> bool | None:
    """Exclusive create: a repeat is a no-op. False when it cannot be saved, None when another text lies there."""
    data = text.encode("utf-8", "replace")
    try:
        private_dir(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(data)
    except FileExistsError:
        return True if _holds(path, data) else None
    except OSError:
        return False
    return True


def _holds(path: Path, data: bytes) -> bool:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(len(data) + 1) == data
    except OSError:
        return False


def _words(result: ToolResultPart) -> tuple[str, bool]:
    """The words of a result that `result_part` made, and whether media stand beside them."""
    if isinstance(result.content, str):
        return result.content, False
    first = result.content[0] if result.content else None
    return (first.text if isinstance(first, TextPart) else ""), True


def result_part(call_id: CallId, text: str, media: tuple[ResultContent, ...], *, is_error: bool) -> ToolResultPart:
    """A result as it is recorded and sent."""
    content = (TextPart(text=text), *media) if media else text
    return ToolResultPart(call_id=call_id, content=content, is_error=is_error)
