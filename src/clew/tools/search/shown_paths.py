"""Paths as search results show them: short, newest first, with one note on how the search was done."""

import os
from typing import TYPE_CHECKING

from clew.tools.session import ToolSession

if TYPE_CHECKING:
    from clew.system.search_binary import SearchBinary

TIMEOUT_WORDS = "The search timed out: these results are only a part. Narrow the path or the pattern."


def relative_to(path: str, cwd: str) -> str:
    """Relative when that is shorter and stays below; names that are no valid text are escaped."""
    base = cwd.rstrip("/") + "/"
    shown = path[len(base) :] if path.startswith(base) else ("." if path == cwd else path)
    return shown.encode(errors="backslashreplace").decode(errors="replace")


def newest_first(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Sorted by modification time, then by name."""
    return sorted(rows, key=lambda row: (-modified_ns(row[0]), row[0]))


def modified_ns(path: str) -> int:
    """0 for a file that vanished."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def search_note(session: ToolSession, binary: "SearchBinary", *, timed_out: bool) -> list[str]:
    """A time-out is always told; which program searched, once per session and only when it is a fallback."""
    notes = [TIMEOUT_WORDS] if timed_out else []
    if binary.note and not session.search_note_given:
        session.search_note_given = True
        notes.append(binary.note)
    return notes
