"""A window of numbered lines over a text or a file of any size, bounded in lines and characters."""

import io
import re
from typing import NamedTuple

from clew.system.encoding import Encoding

MAX_CHARS = 48_000
MAX_LINE_CHARS = 2_000
NEWLINES = re.compile("\r\n|\n|\r")


class Window(NamedTuple):
    """Some lines of a file, numbered."""

    text: str
    first: int
    shown: int
    total: int | None
    """Lines of the whole file; None when it is too large to count."""
    more: bool
    cut_lines: int


class LineCollector:
    """Takes lines until the window is full."""

    def __init__(self, first: int, limit: int) -> None:
        self.first = first
        self.limit = limit
        self.lines: list[str] = []
        self.chars = 0
        self.cut = 0

    def take(self, line: str) -> bool:
        """Add one line; False when it no longer fits."""
        if len(self.lines) >= self.limit:
            return False
        if len(line) > MAX_LINE_CHARS:
            line = line[:MAX_LINE_CHARS] + "… (line cut)"
            cut = 1
        else:
            cut = 0
        numbered = f"{self.first + len(self.lines):>6}\t{line}"
        if self.lines and self.chars + len(numbered) > MAX_CHARS:
            return False
        self.lines.append(numbered)
        self.chars += len(numbered) + 1
        self.cut += cut
        return True

    def window(self, *, total: int | None, more: bool) -> Window:
        """What was taken."""
        return Window("\n".join(self.lines), self.first, len(self.lines), total, more, self.cut)


def window_of_text(text: str, first: int, limit: int) -> Window:
    """Lines of a text in memory. Every newline style ends a line."""
    lines = text.split("\n") if "\r" not in text else NEWLINES.split(text)
    if lines and not lines[-1]:
        lines.pop()
    collector = LineCollector(first, limit)
    more = any(not collector.take(line) for line in lines[first - 1 : first + limit])
    return collector.window(total=len(lines), more=more)


def window_of_file(file: io.BufferedReader, encoding: Encoding, first: int, limit: int) -> Window:
    """Lines of a large file, read piece by piece: one endless line never fills the memory."""
    file.seek(len(encoding.bom))
    text = io.TextIOWrapper(file, encoding=encoding.name, errors="replace", newline=None)
    collector = LineCollector(first, limit)
    number = 1
    try:
        while number < first:
            piece = text.readline(65_536)
            if not piece:
                return collector.window(total=number - 1, more=False)
            number += piece.endswith("\n")
        while line := text.readline(MAX_LINE_CHARS + 2):
            whole = line.endswith("\n")
            if not collector.take(line.removesuffix("\n")):
                return collector.window(total=None, more=True)
            while not whole and (rest := text.readline(65_536)):
                whole = rest.endswith("\n")
        return collector.window(total=first + len(collector.lines) - 1, more=False)
    finally:
        text.detach()
