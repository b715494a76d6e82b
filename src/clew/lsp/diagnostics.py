"""Diagnostics: read with care, compared with those from before, told in one line each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

from msgspec import Struct

from clew.text.terminal_text import clip, sanitize

MAX_READ = 2_000
MAX_TOLD = 10
MAX_PLACE = 1_000_000_000
MAX_MESSAGE_CHARS = 240
SEVERITIES = {1: "error", 2: "warning", 3: "info", 4: "hint"}
TOLD = (1, 2)
"""Hints and remarks are for editors."""


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One finding of a server about a file."""

    line: int
    column: int
    severity: int
    message: str
    code: str = ""

    @property
    def key(self) -> tuple[int, str, str]:
        """What it is, wherever it stands: an edit above moves it."""
        return self.severity, self.message, self.code

    def told(self) -> str:
        """`12:5 error: words [code]`."""
        code = f" [{self.code}]" if self.code else ""
        return f"{self.line}:{self.column} {SEVERITIES[self.severity]}: {self.message}{code}"


def read_diagnostics(given: object) -> tuple[Diagnostic, ...]:
    """What a server sent, as far as it can be understood."""
    if not isinstance(given, list):
        return ()
    found = (_read(item) for item in cast("list[object]", given)[:MAX_READ])
    return tuple(item for item in found if item is not None)


def _read(item: object) -> Diagnostic | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    try:
        start = fields["range"]["start"]
        line, column = _place(start["line"]), _place(start["character"])
    except (KeyError, TypeError, ValueError):
        return None
    severity = fields.get("severity", 1)
    message = fields.get("message")
    if not isinstance(severity, int) or severity not in SEVERITIES or not isinstance(message, str):
        return None
    code = fields.get("code")
    return Diagnostic(
        line=line,
        column=column,
        severity=severity,
        message=clip(sanitize(message[:4_000], one_line=True), MAX_MESSAGE_CHARS),
        code=sanitize(code, one_line=True)[:60] if isinstance(code, str) else "",
    )


def _place(number: object) -> int:
    """A line or column as people count them. Raises ValueError."""
    if not isinstance(number, int | float) or not 0 <= number < MAX_PLACE:
        raise ValueError("no place in a file")
    return int(number) + 1


def new_ones(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those that were not there before, errors first; of several equal ones as many as came."""
    known = Counter(item.key for item in before)
    found: list[Diagnostic] = []
    for item in after:
        if known[item.key] > 0:
            known[item.key] -= 1
        elif item.severity in TOLD:
            found.append(item)
    return sorted(found, key=lambda item: (item.severity, item.line, item.column))


def told(found: Sequence[Diagnostic]) -> str:
    """Their lines, bounded."""
    lines = [item.told() for item in found[:MAX_TOLD]]
    if len(found) > MAX_TOLD:
        lines.append(f"and {len(found) - MAX_TOLD} more")
    return "\n".join(lines)
