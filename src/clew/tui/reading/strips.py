"""Rows as strips of the screen: names of styles become colours here, and nowhere else."""

from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from clew.presentation.rows.spans import Row
from clew.tui.themes import mixed

_MARKS = "▌※●◐◓◑◒✗⊘┆│─┼▸▾∴•−…⋮☑☐›·↑↓←→⋯⟨⟩▓░⇧⇥“”"
_STAND_INS = "|=*ooooxx:|-+>v~*-.:xo>.^v<>.<>#.^>''"
ASCII_MARKS = {ord(mark): other for mark, other in zip(_MARKS, _STAND_INS, strict=True)}


class StripMaker:
    """Makes strips of one theme. Combined styles are made once."""

    def __init__(self, styles: Mapping[str, Style], *, ascii_only: bool = False) -> None:
        self._styles = styles
        self._made: dict[str, Style] = {"": Style.null()}
        self._ascii_only = ascii_only

    def style(self, names: str) -> Style:
        """The style of one or more names."""
        if names not in self._made:
            self._made[names] = mixed(self._styles, names)
        return self._made[names]

    def strip(self, row: Row) -> Strip:
        """One row."""
        segments: list[Segment] = []
        for text, names, link, _ in row:
            if not text:
                continue
            style = self.style(names)
            if link:
                style = style + Style(link=link)
            segments.append(Segment(in_ascii(text) if self._ascii_only else text, style))
        return Strip(segments)


def in_ascii(text: str) -> str:
    """For a terminal that shows nothing else: marks have stand-ins, the rest a question mark."""
    return text if text.isascii() else text.translate(ASCII_MARKS).encode("ascii", "replace").decode()


def speaks_unicode(env: Mapping[str, str]) -> bool:
    """Whether the terminal is said to show more than ASCII; one that says nothing is taken to."""
    said = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "UTF-8"
    return "utf" in said.lower() or (said in ("C.UTF8", "POSIX", "C") and env.get("TERM", "") != "linux")
