"""Paths in searches, for Glob and Grep: which ones a pattern means, their order, and how they are shown."""

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.system.search_binary import SearchBinary
    from clew.tools.session import ToolSession

TIMEOUT_WORDS = "The search timed out: these results are only a part. Narrow the path or the pattern."


@lru_cache(maxsize=256)
def glob_regex(pattern: str) -> re.Pattern[str]:
    """`**` crosses directories, `*` and `?` do not, `{a,b}` chooses. Without a slash it matches at any depth."""
    anchored = pattern.removeprefix("./")
    prefix = "" if "/" in anchored.strip("/") or anchored.startswith("/") else "(?:.*/)?"
    return re.compile(prefix + translate(anchored.lstrip("/")), re.DOTALL)


def translate(pattern: str) -> str:
    """The regular expression of one pattern."""
    out: list[str] = []
    depth = position = 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            stars = len(pattern[position - 1 :]) - len(pattern[position - 1 :].lstrip("*"))
            position += stars - 1
            if stars < 2:
                out.append("[^/]*")
            elif pattern[position : position + 1] == "/":
                position += 1
                out.append("(?:.*/)?")
            else:
                out.append(".*")
        elif char == "[" and (end := class_end(pattern, position)) > 0:
            body = pattern[position:end].replace("\\", "\\\\")
            out.append("[^/" + body[1:] + "]" if body[0] in "!^" else f"[{body}]")
            position = end + 1
        elif char == "{" and "}" in pattern[position:]:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "?":
            out.append("[^/]")
        else:
            out.append(re.escape(char))
    return "".join(out) + ")" * depth


def class_end(pattern: str, start: int) -> int:
    """The index of the bracket that closes a character class opened before `start`; -1 when none does."""
    return pattern.find("]", start + 2 if pattern[start : start + 1] in ("!", "^") else start + 1)


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


def search_note(session: "ToolSession", binary: "SearchBinary", *, timed_out: bool) -> list[str]:
    """A time-out is always told; which program searched, once per session and only when it is a fallback."""
    notes = [TIMEOUT_WORDS] if timed_out else []
    if binary.note and not session.search_note_given:
        session.search_note_given = True
        notes.append(binary.note)
    return notes
