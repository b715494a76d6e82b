"""Where a forked session comes from: the journals it shares, each up to the moment of the fork."""

import os
from pathlib import Path
from typing import NamedTuple

from clew.protocol.entries import SessionSourceEntry
from clew.transcript.errors import UnsafeTranscript
from clew.transcript.log.codec import decode
from clew.transcript.log.files import open_read

_HEAD_BYTES = 256 * 1024
_MAX_FORKS = 50


class ForkPoint(NamedTuple):
    """A session that another one was forked from."""

    transcript: Path
    until: str
    """What it did after this moment is not part of the fork's history."""


def lineage(transcript: Path) -> tuple[ForkPoint, ...]:
    """The sessions this one was forked from, oldest first. One that was moved away is left out."""
    found: list[ForkPoint] = []
    seen = {transcript}
    at: Path | None = transcript
    while at is not None and len(found) < _MAX_FORKS:
        point = _source(at)
        at = point.transcript if point is not None and point.transcript not in seen else None
        if point is not None and at is not None:
            seen.add(at)
            found.append(point)
    return tuple(reversed(found))


def _source(transcript: Path) -> ForkPoint | None:
    """A fork's first lines name its source."""
    try:
        fd = open_read(transcript)
    except (OSError, UnsafeTranscript):
        return None
    try:
        head = os.pread(fd, _HEAD_BYTES, 0)
    finally:
        os.close(fd)
    for line in head.split(b"\n")[:20]:
        entry, _ = decode(line)
        if isinstance(entry, SessionSourceEntry) and entry.agent == "clew" and entry.path:
            return ForkPoint(Path(entry.path), entry.timestamp)
    return None
