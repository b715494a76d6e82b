"""Looking through the files themselves, for what the index leaves out (the middle of long tool output)."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from clew.transcript.errors import TranscriptError
from clew.transcript.index.search_text import excerpt
from clew.transcript.log.codec import MAX_LINE_BYTES, decode_object
from clew.transcript.log.files import open_read

_CHUNK = 4 * 1024 * 1024


class DeepHit(NamedTuple):
    """A line that holds every word asked for."""

    path: Path
    text: str
    spans: tuple[tuple[int, int], ...]
    uuid: str


def deep_search(paths: Iterable[Path], question: str, *, limit: int = 20) -> list[DeepHit]:
    """At most one hit for each file. Upper and lower case differ here."""
    words = sorted(question.split(), key=len, reverse=True)
    if not words:
        return []
    needles = [msgspec.json.encode(word)[1:-1] for word in words]
    hits: list[DeepHit] = []
    for path in paths:
        for line in _lines_with(path, needles):
            entry = decode_object(line)
            text = _text_with(entry, words) if entry is not None else ""
            if entry is not None and text:
                piece, spans = excerpt(text, question)
                hits.append(DeepHit(path, piece, tuple(spans), str(entry.get("uuid") or "")))
                break
        if len(hits) >= limit:
            break
    return hits


def _lines_with(path: Path, needles: list[bytes]) -> Iterator[bytes]:
    try:
        fd = open_read(path)
    except (OSError, TranscriptError):
        return
    try:
        carry = b""
        position = 0
        while data := os.pread(fd, _CHUNK, position):
            position += len(data)
            end = data.rfind(b"\n")
            block, carry = (carry + data[: end + 1], data[end + 1 :]) if end >= 0 else (b"", carry + data)
            if len(carry) > MAX_LINE_BYTES:
                carry = b""  # a line that no reader of ours takes; its rest is no JSON and is passed over
            if needles[0] in block:
                yield from (line for line in block.split(b"\n") if all(needle in line for needle in needles))
        if all(needle in carry for needle in needles):
            yield carry
    finally:
        os.close(fd)


def _text_with(value: object, words: list[str]) -> str:
    """The innermost string that holds the first word."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if words[0] in item:
                return item
        elif isinstance(item, dict):
            waiting.extend(item.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]  # JSON
        elif isinstance(item, list):
            waiting.extend(item)  # pyright: ignore[reportUnknownArgumentType]  # JSON
    return ""
