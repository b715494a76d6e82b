"""stdin, stdout and stderr as every command may rely on them: there, UTF-8, and quiet when nobody reads."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def prepare() -> None:
    """Closed streams lead nowhere instead of into the next file that is opened; what leaves is always UTF-8."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        reopen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors="replace")


def reopen() -> None:
    """Put the null device where the process was started without a stream."""
    while True:
        number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free
        if number > 2:
            os.close(number)
            break
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def drop(stream: TextIO) -> None:
    """What is still buffered can go nowhere; without this Python complains about it on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
