"""Several entries on one line, also behind a torn one: where each begins and ends.

Another program, or a crash between two writes, can leave out the newline. A line that is one entry never comes here.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from clew.transcript.lenient import KNOWN_TYPES

_MAX_FAILURES = 64
"""Beginnings that turned out to be none; after so many the rest of the line is damage, whatever it holds."""

_BETWEEN = re.compile("[ \t\r,\0\x1e\ufeff]*")
_BEGINNING = re.compile(
    r'\{\s*"(?:type|uuid|parentUuid|logicalParentUuid|isSidechain|sessionId|timestamp|userType|cwd|version)"\s*:'
)
_json = json.JSONDecoder()


class Stretch(NamedTuple):
    """A stretch of a line, in bytes. `problem` is "" for an entry."""

    start: int
    end: int
    problem: str


def split_glued(line: bytes) -> list[Stretch]:
    """The entries of a line and the damage between them, in order; empty when no entry is found at all."""
    text = line.decode("utf-8", "surrogateescape")
    found = list(_stretches(text))
    if any(problem == "not-json" for _, _, _, problem in found):
        # Beside damage only what is surely an entry counts: a part of a broken one can be valid JSON, too.
        found = [
            (start, end, value, problem or ("" if _is_entry(value) else "not-json"))
            for start, end, value, problem in found
        ]
    if all(problem for _, _, _, problem in found):
        return []
    offsets = _ByteOffsets(text)
    spans = [Stretch(offsets.of(start), offsets.of(end), problem) for start, end, _, problem in found]
    return [*spans[:-1], spans[-1]._replace(end=len(line))]


def _stretches(text: str) -> Iterator[tuple[int, int, Any, str]]:
    failures = 0
    at = 0
    while True:
        start, at = at, cast("re.Match[str]", _BETWEEN.match(text, at)).end()
        if "\0" in text[start:at]:
            yield start, at, None, "nul-bytes"
        if at == len(text):
            return
        value, end = _object_at(text, at)
        if value is not None:
            yield at, end, value, ""
            at = end
            continue
        start = at
        while value is None and failures < _MAX_FAILURES and (match := _BEGINNING.search(text, at + 1)):
            at = match.start()
            value, _ = _object_at(text, at)
            value = value if _is_entry(value) else None
            failures += value is None
        if value is None:
            yield start, len(text), None, "not-json"
            return
        yield start, at, None, "not-json"


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    if not text.startswith("{", at):
        return None, at
    try:
        value, end = _json.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return value, end


def _is_entry(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    named = any(isinstance(fields.get(name), str) for name in ("uuid", "sessionId"))
    return named and fields.get("type") in KNOWN_TYPES


class _ByteOffsets:
    """Places in the text as places in the bytes it was decoded from; asked in rising order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chars = 0
        self._bytes = 0

    def of(self, place: int) -> int:
        self._bytes += len(self._text[self._chars : place].encode("utf-8", "surrogateescape"))
        self._chars = place
        return self._bytes
