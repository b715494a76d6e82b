"""Rows of styled text: spans with the name of a style, broken at words, measured in columns. Their text is safe.

A span also knows what it is a copy of (`source`): clew's own marks and blanks are copied as nothing, a tab as a tab.
A row that was broken for want of room goes on in the next one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clew.text.terminal_text import between_columns, clip, display_width

TAB = "    "
PROSE_COLUMNS = 100
"""Words are set no wider than this on a wide screen: longer rows are hard to read."""
WIDEST_SCREEN = 2_000
MIN_COLUMNS = 4
_UNITS = re.compile(r"[^\S\n]+|\S+")
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003fffd]"
)
"""Scripts that are written without blanks: a row may end after each character."""
_NO_BEGIN = frozenset("、。，．：；？！）］｝」』】〉》〕”’…ー々,.:;?!)]}")
"""What no row begins with, even between such characters."""


class Span(NamedTuple):
    """A piece of a row in one style."""

    text: str
    style: str = ""
    """A name of `STYLES`, or several joined by blanks; empty: plain."""
    link: str = ""
    """Where it leads; a terminal that can makes it clickable."""
    source: str | None = None
    """What is copied in its place; None: its text. It counts as a whole where it is not as long as the text."""


Row = tuple[Span, ...]
EMPTY: Row = ()
GOES_ON = "goes-on"
"""The style of a last span without text: the line goes on in the next row, after this span's source."""

STYLES = (
    *(
        "dim",
        "bold",
        "italic",
        "strike",
        "code",
        "inline-code",
        "heading",
        "heading-1",
        "heading-2",
        "heading-3",
        "link",
        "quote",
        "accent",
        "user",
        "notice",
        "recap",
    ),
    *("warning", "error", "success", "added", "removed", "added-word", "removed-word", "number"),
    *("code-keyword", "code-string", "code-comment", "code-name", "code-number"),
)
"""All names there are; a front end gives each its colours or weight."""


def plain(row: Iterable[Span]) -> str:
    """The words of a row without their styles."""
    return "".join(span.text for span in row)


def width_of(row: Iterable[Span]) -> int:
    """Columns of a row."""
    return sum(display_width(span.text) for span in row)


def said(text: str, style: str = "") -> Row:
    """A row of one style."""
    return (Span(text, style),) if text else EMPTY


def prose_columns(columns: int) -> int:
    """How wide words are set. Where there is no screen, and so no end of a row, they are not broken."""
    return PROSE_COLUMNS if PROSE_COLUMNS < columns <= WIDEST_SCREEN else columns


def quiet(row: Iterable[Span]) -> Row:
    """The row as clew's own: it is shown and never copied."""
    return tuple(span._replace(source="") for span in row)


def goes_on(row: Row) -> str | None:
    """What stands between this row and the next one of the same line; None: the line ends here."""
    return row[-1].source if row and row[-1].style == GOES_ON else None


def copied(row: Row, start: int = 0, end: int | None = None) -> str:
    """The source text of the columns from `start` up to `end`; None: up to the end of the row."""
    if start <= 0 and end is None:
        return "".join(_source(span) for span in row if span.style != GOES_ON)
    parts: list[str] = []
    at = 0
    for span in row:
        size = display_width(span.text)
        last = at + size if end is None else end
        if span.style == GOES_ON:
            continue
        if span.source is None:
            parts.append(between_columns(span.text, start - at, last - at))
        elif len(span.source) == len(span.text):
            parts.append(between_columns(span.source, start - at, last - at))
        elif start <= at < last or (not size and end is None):
            parts.append(span.source)
        at += size
    return "".join(parts)


def _source(span: Span) -> str:
    return span.text if span.source is None else span.source


def clipped(row: Row, columns: int) -> Row:
    """The row if it fits, else its start and an ellipsis."""
    if width_of(row) <= columns:
        return row
    kept: list[Span] = []
    room = columns
    for span in row:
        size = display_width(span.text)
        if size >= room:
            kept.append(span._replace(text=clip(span.text + "……", room)))
            break
        kept.append(span)
        room -= size
    return tuple(kept)


def spread(left: Row, right: Row, columns: int) -> Row:
    """Both on one row, one at each end; the left one gives way."""
    if not right:
        return clipped(left, columns)
    room = columns - width_of(right) - 1
    if room < MIN_COLUMNS:
        return clipped(left, columns)
    left = clipped(left, room)
    return (*left, Span(" " * (columns - width_of(left) - width_of(right)), source=" "), *right)


def wrapped(spans: Iterable[Span], columns: int, *, first: Row = EMPTY, hang: Row = EMPTY) -> list[Row]:
    """Rows of at most `columns`, broken at blanks where there are any. The first begins with `first`, further ones with
    `hang`. A newline in a span begins a new row."""
    filling = _Filling(max(columns, width_of(hang) + MIN_COLUMNS, width_of(first) + MIN_COLUMNS), first, hang)
    for word in _words(spans):
        if word[0].text == "\n":
            filling.end_row()
        elif word[0].text.isspace():
            filling.gap(word[0])
        else:
            filling.word(word)
    filling.end_row()
    return filling.rows


class _Filling:
    """Rows being filled with words."""

    def __init__(self, columns: int, first: Row, hang: Row) -> None:
        self.rows: list[Row] = []
        self._columns = columns
        self._hang = quiet(hang)
        self._begin(first)

    def _begin(self, margin: Row) -> None:
        self._row = list(margin)
        self._used = width_of(margin)
        self._empty = True
        self._blanks: list[Span] = []

    def end_row(self, *, on: bool = False) -> None:
        """The next word begins a new row; `on`: of the same line."""
        gap = "".join(map(_source, self._blanks))
        if on:
            self._row.append(Span("", GOES_ON, source=gap))
        elif gap:
            self._row.append(Span("", source=gap))
        self.rows.append(merged(self._row))
        self._begin(self._hang)

    def gap(self, blank: Span) -> None:
        """Blanks count if a word follows them on the same row."""
        self._blanks.append(blank)

    def word(self, word: list[Span]) -> None:
        """Put a word where it fits; one that fits nowhere is cut."""
        size, gap = width_of(word), width_of(self._blanks)
        if self._used + gap + size > self._columns and not self._empty:
            self.end_row(on=True)
            gap = 0
        self._row += self._blanks
        self._used += gap
        self._blanks = []
        for span in word:
            self._put(span)
        self._empty = False

    def _put(self, span: Span) -> None:
        text = span.text
        while (size := display_width(text)) > self._columns - self._used:
            head, text = _cut(text, self._columns - self._used) if self._used < self._columns else ("", text)
            self._row.append(span._replace(text=head))
            self.end_row(on=True)
        self._row.append(span._replace(text=text))
        self._used += size


def _words(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Newlines, blanks, and words: pieces between which no row may end, whatever their styles."""
    word: list[Span] = []
    for piece, opens in _pieces(spans):
        if word and (opens or piece.text.isspace() or word[-1].text.isspace()):
            yield word
            word = []
        word.append(piece)
    if word:
        yield word


def _pieces(spans: Iterable[Span]) -> Iterator[tuple[Span, bool]]:
    """Each with whether a row may end before it."""
    last = " "
    for span in spans:
        for number, line in enumerate(span.text.split("\n")):
            if number:
                yield Span("\n"), True
                last = " "
            for found in _UNITS.findall(line):
                if "\t" in found:
                    yield span._replace(text=found.replace("\t", TAB), source=found), False
                    last = " "
                    continue
                for piece in [found] if found.isascii() or not _WIDE.search(found) else _breakable(found):
                    wide = _WIDE.match(piece) or _WIDE.match(last)
                    yield span._replace(text=piece), bool(wide) and piece[0] not in _NO_BEGIN
                    last = piece[-1]


def _breakable(word: str) -> Iterator[str]:
    piece = ""
    for char in word:
        wide = bool(_WIDE.match(char))
        if piece and (wide or _WIDE.match(piece[-1])) and char not in _NO_BEGIN and display_width(char):
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


def _cut(text: str, columns: int) -> tuple[str, str]:
    """As much as fits, and the rest; at least one character goes on, so that it ends."""
    if text.isascii():
        return text[:columns], text[columns:]
    head = clip(text + "……", columns + 1)[:-1]
    return (head, text[len(head) :]) if head else (text[:1], text[1:])


def merged(spans: Sequence[Span]) -> Row:
    """Neighbours of one style joined."""
    out: list[Span] = []
    for span in spans:
        if not span.text and span.source is None:
            continue
        if out and out[-1][1:] == span[1:] and span.source is None:
            out[-1] = out[-1]._replace(text=out[-1].text + span.text)
        else:
            out.append(span)
    return tuple(out)


def preformatted(lines: Iterable[Row], columns: int, *, indent: Row = EMPTY, wrap: bool = True) -> list[Row]:
    """Lines whose blanks count, such as code and output: cut into rows at the width, between words where there are any,
    or clipped. The indent is clew's own."""
    room = max(columns - width_of(indent), MIN_COLUMNS)
    margin = quiet(indent)
    rows: list[Row] = []
    for line in lines:
        spread_out = _untabbed(line)
        pieces = [clipped(spread_out, room)] if not wrap else _chopped(spread_out, room)
        rows += [(*margin, *piece) for piece in pieces]
    return rows


def _untabbed(line: Row) -> Row:
    """Tabs as blanks that are copied as tabs."""
    if not any("\t" in span.text for span in line):
        return line
    out: list[Span] = []
    for span in line:
        for number, piece in enumerate(span.text.split("\t")):
            out += [span._replace(text=TAB, source="\t")] if number else []
            out += [span._replace(text=piece)] if piece else []
    return tuple(out)


def _chopped(line: Row, columns: int) -> list[Row]:
    rows: list[Row] = []
    while width_of(line) > columns:
        head, line = _split(line, columns)
        rows.append((*head, Span("", GOES_ON, source="")))
    return [*rows, line] if line or not rows else rows


def _split(line: Row, columns: int) -> tuple[Row, Row]:
    """As much of a line as fits, and the rest. The cut is after a blank where one stands in the last part of it."""
    head: list[Span] = []
    room = columns
    for index, span in enumerate(line):
        size = display_width(span.text)
        if size <= room:
            head.append(span)
            room -= size
            continue
        kept, left = _cut(span.text, room) if room else ("", span.text)
        first, second = _sides(span, kept, left)
        rest = (*second, *line[index + 1 :])
        return _at_a_blank((*head, *first), rest, columns)
    return tuple(head), EMPTY


def _sides(span: Span, kept: str, left: str) -> tuple[Row, Row]:
    """A span cut in two; what stands for something else, such as a tab, does so on its first side."""
    source = span.source if not kept or span.source is None else ""
    first = (span._replace(text=kept),) if kept else EMPTY
    return first, (span._replace(text=left, source=source),) if left else EMPTY


def _at_a_blank(head: Row, rest: Row, columns: int) -> tuple[Row, Row]:
    """Both sides of a cut, moved back to the last blank; as they are where that would leave most of a row empty."""
    words = plain(head)
    at = words.rfind(" ") + 1
    if plain(rest[:1])[:1].isspace() or at in (0, len(words)) or display_width(words[:at]) < columns // 2:
        return head, rest
    kept: Row = EMPTY
    moved: Row = EMPTY
    for span in head:
        first, second = _sides(span, span.text[:at], span.text[at:])
        kept, moved = kept + first, moved + second
        at = max(at - len(span.text), 0)
    return kept, merged([*moved, *rest])
