"""A small screen emulator: what a terminal would show after these characters. Unknown sequences fail the test."""

import re
from unicodedata import combining, east_asian_width

SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Screen:
    """Rows grow downwards without a limit; the scrollback is part of the picture."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.cells: list[list[str]] = [[]]
        self.row = 0
        self.column = 0
        self.sgr_seen: set[str] = set()

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.cells]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, text: str) -> "Screen":
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\x1b":
                found = SEQUENCE.match(text, at)
                assert found is not None, f"unknown escape sequence at {text[at : at + 12]!r}"
                self._sequence(found[1], found[2])
                at = found.end()
                continue
            at += 1
            self._char(char)
        return self

    def _char(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            self.column = 0
            self._grow()
        elif char == "\t":
            self.column = min((self.column // 8 + 1) * 8, self.columns - 1)
        elif combining(char) or char in "\ufe0f\u200d":
            return
        else:
            assert char.isprintable() or char == "\u3000", f"control character {char!r} reached the terminal"
            self._put(char, 2 if east_asian_width(char) in "WF" else 1)

    def _put(self, char: str, width: int) -> None:
        if self.column + width > self.columns:
            self._char("\n")
        row = self.cells[self.row]
        row.extend(" " * (self.column + width - len(row)))
        row[self.column] = char
        if width == 2:
            row[self.column + 1] = ""
        self.column += width

    def _grow(self) -> None:
        while len(self.cells) <= self.row:
            self.cells.append([])

    def _sequence(self, argument: str, final: str) -> None:
        count = int(argument) if argument.isdigit() else 1
        match final:
            case "A":
                self.row = max(0, self.row - count)
            case "B":
                self.row = min(len(self.cells) - 1, self.row + count)
            case "C":
                self.column = min(self.columns - 1, self.column + count)
            case "J" if argument == "":
                del self.cells[self.row][self.column :]
                del self.cells[self.row + 1 :]
            case "J" if argument == "2":
                self.cells = [[]]
                self.row = self.column = 0
            case "H" if argument == "":
                self.row = self.column = 0
            case "m":
                self.sgr_seen.add(argument)
            case "h" | "l" if argument in ("?2004", "?1004"):
                pass
            case _:
                raise AssertionError(f"unexpected sequence ESC[{argument}{final}")
