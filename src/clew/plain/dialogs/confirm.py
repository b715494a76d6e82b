"""One yes-or-no question before there is a session, such as whether a directory is trusted."""

import os
import select
import sys
import termios
from collections.abc import Sequence
from typing import TextIO

from clew.plain.line.wrap import wrap
from clew.text.terminal_text import reveal, sanitize


def confirm(
    lines: Sequence[str],
    question: str,
    *,
    quoted: str = "",
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    guard_s: float = 0.3,
) -> bool:
    """Show the lines and the exact `quoted` text (a path, a command), then wait for a typed "y" or "yes".

    False for everything else: Enter, the end of the input, a stdin that is no terminal. Keys typed before the question
    appeared do not count. Ctrl-C raises KeyboardInterrupt.
    """
    source, out = stdin or sys.stdin, stdout or sys.stdout
    for line in lines:
        out.write(wrap(sanitize(line), _columns(out)) + "\n")
    if quoted:
        out.write("".join(f"  | {line}\n" for line in reveal(quoted).split("\n")))
    if not source.isatty():
        out.write("Nobody can answer here. Taken as no.\n")
        out.flush()
        return False
    out.flush()
    _wait_for_quiet(source.fileno(), guard_s)
    out.write(f"{sanitize(question, one_line=True)} [y]es / [n]o > ")
    out.flush()
    return _read_line(source.fileno()).strip().lower() in ("y", "yes")


def _columns(out: TextIO) -> int:
    """Width of the screen; 0 where there is none."""
    try:
        return os.get_terminal_size(out.fileno()).columns
    except (OSError, ValueError):
        return 0


def _wait_for_quiet(descriptor: int, guard_s: float) -> None:
    """Until no key came for a while; those that came are forgotten. Keys are read one by one so that they are seen."""
    found = termios.tcgetattr(descriptor)
    raw = [*found]
    raw[3] = found[3] & ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(descriptor, termios.TCSANOW, raw)
    try:
        termios.tcflush(descriptor, termios.TCIFLUSH)
        while select.select([descriptor], [], [], guard_s)[0]:
            if not os.read(descriptor, 4096):
                return
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, found)


def _read_line(descriptor: int) -> str:
    """One line, without reading ahead: what follows belongs to the session."""
    try:
        data = os.read(descriptor, 4096)
    except OSError:
        return ""
    return data.decode("utf-8", "replace")
