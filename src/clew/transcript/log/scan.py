"""Lines of a file with their offsets, in both directions, in bounded memory.

Plain reads, not a memory map: a file that another program truncates would kill a process that has it mapped.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from clew.transcript.log.codec import MAX_LINE_BYTES

_CHUNK = 512 * 1024


class LogLine(NamedTuple):
    """One line without its newline. `data` is None when the line is too long to be held."""

    offset: int
    length: int
    data: bytes | None
    ended: bool
    """False for a last line without a newline."""


def backward(fd: int, end: int) -> Iterator[LogLine]:
    """The non-empty lines before `end`, last first."""
    pieces: list[bytes] = []  # the part of the current line that lies after `position`, last piece first
    length = 0
    position = end
    ended = False
    while position > 0:
        step = min(_CHUNK, position)
        position -= step
        data = os.pread(fd, step, position)
        high = len(data)
        while True:
            cut = data.rfind(b"\n", 0, high)
            length += high - cut - 1
            if length <= MAX_LINE_BYTES:
                pieces.append(data[cut + 1 : high])
            else:
                pieces.clear()
            if cut < 0:
                break
            if length:
                yield LogLine(position + cut + 1, length, _joined(pieces, length), ended)
            pieces.clear()
            length, high, ended = 0, cut, True
    if length:
        yield LogLine(0, length, _joined(pieces, length), ended)


def forward(fd: int, start: int, end: int) -> Iterator[LogLine]:
    """The non-empty lines from `start` (a line's first byte) to `end`, first one first."""
    pieces: list[bytes] = []
    length = 0
    line_start = position = start
    while position < end:
        data = os.pread(fd, min(_CHUNK, end - position), position)
        if not data:
            break
        low = 0
        while True:
            cut = data.find(b"\n", low)
            stop = len(data) if cut < 0 else cut
            length += stop - low
            if length <= MAX_LINE_BYTES:
                pieces.append(data[low:stop])
            else:
                pieces.clear()
            if cut < 0:
                break
            if length:
                joined = None if length > MAX_LINE_BYTES else b"".join(pieces)
                yield LogLine(line_start, length, joined, True)
            pieces.clear()
            length, low = 0, cut + 1
            line_start = position + low
        position += len(data)
    if length:
        yield LogLine(line_start, length, None if length > MAX_LINE_BYTES else b"".join(pieces), False)


def _joined(pieces: list[bytes], length: int) -> bytes | None:
    if length > MAX_LINE_BYTES:
        return None
    return pieces[0] if len(pieces) == 1 else b"".join(reversed(pieces))
