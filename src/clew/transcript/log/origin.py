"""How a session began: with a person at a terminal, or as a run of a script or a program."""

import mmap
import os
from pathlib import Path

from clew.protocol.entries import SessionOriginEntry
from clew.transcript.errors import UnsafeTranscript
from clew.transcript.log.codec import decode
from clew.transcript.log.files import open_read

_HEAD_BYTES = 64 * 1024
_HEAD_LINES = 4
_MARK = b'{"type":"session-origin"'


def is_conversation(path: Path) -> bool:
    """Whether a person talks in this session: it began at a terminal, or was gone on with at one.

    Only runs say in their first lines how they began; a log without such a line is a conversation. The rest of a file
    is looked at for runs only.
    """
    try:
        fd = open_read(path)
    except (OSError, UnsafeTranscript):
        return False
    try:
        head = os.pread(fd, _HEAD_BYTES, 0).split(b"\n")[:_HEAD_LINES]
        if not any(_entrypoint(line) not in ("", "terminal") for line in head):
            return True
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as data:
            return any(_entrypoint(line) == "terminal" for line in _marked(data))
    except (OSError, ValueError):  # it went away, or is empty
        return False
    finally:
        os.close(fd)


def _marked(data: mmap.mmap) -> list[bytes]:
    found: list[bytes] = []
    at = data.find(b"\n" + _MARK)
    while at >= 0:
        end = data.find(b"\n", at + 1)
        found.append(data[at + 1 : end if end >= 0 else len(data)])
        at = data.find(b"\n" + _MARK, at + 1)
    return found


def _entrypoint(line: bytes) -> str:
    entry = decode(line)[0] if line.startswith(_MARK) else None
    return entry.entrypoint if isinstance(entry, SessionOriginEntry) else ""
