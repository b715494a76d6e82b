"""What comes through a pipe on stdin: all of it, or nothing where nobody sends anything."""

import os
import select
from typing import TextIO

from clew.cli.voice import say

FIRST_BYTE_S = 3.0
"""With a prompt given, how long a pipe may stay silent before it is taken for none."""
MAX_BYTES = 32 * 1024 * 1024
"""More than any model reads: whoever sends more sends it by mistake, or without end."""


class PipeProblem(ValueError):
    """What is on stdin cannot be a prompt; the words say why."""


def piped_text(stdin: TextIO | None, *, argument_given: bool, wait: bool) -> str:
    """Everything on stdin. Of a terminal nothing, and nothing of a pipe that stays silent while a prompt is there
    already, unless it is to be waited for. Raises PipeProblem."""
    descriptor = stdin.fileno() if stdin is not None else -1
    if descriptor < 0 or (os.isatty(descriptor) and not wait):
        return ""
    if argument_given and not wait and not speaks(descriptor):
        say(f"stdin was silent for {FIRST_BYTE_S:g} s: going on without it (--stdin waits for it)")
        return ""
    data = read_all(descriptor)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte {data[error.start]:#04x} at offset {error.start}"
        raise PipeProblem(f"stdin is not UTF-8 text ({where})") from None


def speaks(descriptor: int) -> bool:
    """Whether something comes, or the end, within the time for a first byte."""
    try:
        return bool(select.select([descriptor], [], [], FIRST_BYTE_S)[0])
    except OSError:
        return True  # what cannot be waited for is read, and tells its own story


def read_all(descriptor: int) -> bytes:
    """To the end, however slowly it comes."""
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise PipeProblem(f"stdin holds more than {MAX_BYTES >> 20} MB; give a file to read instead")
    except OSError:
        return b"".join(chunks)  # closed or unreadable: there is no more input
    return b"".join(chunks)
