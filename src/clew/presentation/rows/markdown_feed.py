"""Markdown that is still being written, for a printer: each row once, as soon as no later word can change it."""

import re
from collections.abc import Iterator

from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from clew.presentation.rows.markdown import References, markdown_rows, parser
from clew.presentation.rows.spans import EMPTY, Row, Span, plain, wrapped
from clew.text.terminal_text import StreamSanitizer

MARKS = frozenset("*_`[]~|<")
"""What may mean something else once more of the text is known."""
CLOSERS = ("*", "**", "***", "_", "`", ")", "](x)", "~~")
LISTS = ("bullet_list_open", "ordered_list_open")
LABEL = re.compile(r"\[([^\[\]]{1,200})\]")
PATIENCE = 8
"""A tail is looked at again when it has grown by this part of it: one endless paragraph costs no more than many."""


class MarkdownFeed:
    """Blocks that are over are given out whole, items of a list and lines of code one by one. Of the block that grows
    the rows are given out that stay as they are, whatever comes next. Tables wait until they are whole. A link whose
    address is defined only after its row was given out is told by a row of its own: `[1]: https://...`."""

    def __init__(self, columns: int) -> None:
        self._columns = self._wanted_columns = columns
        self._safe = StreamSanitizer()
        self._fed_chars = 0
        self._rest = ""
        """What is not settled; begins with the head of its code block while it is inside one."""
        self._given: list[str] = []
        """Rows of the rest that were given out already."""
        self._begun = False
        self._joined = False
        """The rest goes on with what was given out: no blank row between them."""
        self._in_code = False
        self._looked_at = 0
        self._references: References = {}
        """Addresses that are defined apart, in what is settled."""
        self._labels: set[str] = set()
        """What stands in brackets in rows that were given out, and was no link then."""

    def resize(self, columns: int) -> None:
        """The screen has another width now: it holds from the next block on, of which no row was given out."""
        self._wanted_columns = columns

    def more(self, text: str) -> list[Row]:
        """The rows that became final. `text` is all of it so far; it only ever grows."""
        self._take(text)
        if not self._worth_a_look():
            return []
        rows = list(self._settled())
        rows += self._stable()
        self._looked_at = len(self._rest)
        return rows

    def end(self, text: str) -> list[Row]:
        """All that is left: nothing more comes."""
        self._take(text)
        self._rest += self._safe.flush()
        rows = list(self._settled())
        rows += self._final(self._rest)
        return rows

    def pending(self) -> list[Row]:
        """What is there and was not given out yet, as it looks now."""
        rows = self._rows(self._rest)
        return rows[self._same(rows) :]

    def give_pending(self) -> list[Row]:
        """Give it out all the same; should it turn out to mean something else, it is given out again."""
        return self._give(self._rows(self._rest))

    def _take(self, text: str) -> None:
        self._rest += self._safe.feed(text[self._fed_chars :])
        self._fed_chars = len(text)
        if not self._begun:
            self._rest = self._rest.lstrip("\n")

    def _worth_a_look(self) -> bool:
        """A new line may end a block; within one, rows become full one by one."""
        new = self._rest[self._looked_at :]
        least = max(min(self._columns, 200) // 2, len(self._rest) // PATIENCE)
        return len(new) >= least or "\n\n" in new or ("\n" in new and 30 * len(new) >= len(self._rest))

    def _settled(self) -> Iterator[Row]:
        """Take off what is over, piece by piece."""
        while True:
            if not self._given:
                self._columns = self._wanted_columns
            tokens = parser().parse(self._rest)
            cut = self._cut(tokens)
            if cut == 0:
                lines = _code_lines(tokens, self._rest)
                if lines:
                    yield from self._code(lines)
                return
            piece, self._rest = self._rest[:cut], self._rest[cut:]
            yield from self._final(piece)
            self._given, self._looked_at, self._in_code = [], 0, False
            # Items of a list stand as close as they were written.
            self._joined = tokens[0].type in LISTS and not piece.endswith("\n\n") and self._goes_on()

    def _goes_on(self) -> bool:
        return (parser().parse(self._rest) or [Token("", "", 0)])[0].type in LISTS

    def _cut(self, tokens: list[Token]) -> int:
        """Where the first block that is over ends; 0 when there is none."""
        starts = [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
        if tokens and tokens[0].type in LISTS:
            end = starts[1] if len(starts) > 1 else None
            items = [
                token.map[0] for token in tokens if token.type == "list_item_open" and token.level == 1 and token.map
            ]
            starts = [line for line in items if end is None or line < end] + ([end] if end is not None else [])
        return _offset(self._rest, starts[1]) if len(starts) > 1 else 0

    def _code(self, lines: int) -> Iterator[Row]:
        """Whole lines of code that is not over yet. The rest keeps the head of its block."""
        head, _, body = self._rest.partition("\n")
        cut = _offset(body, lines)
        yield from self._give(self._rows(f"{head}\n{body[:cut]}"))
        self._rest = f"{head}\n{body[cut:]}"
        self._given, self._looked_at = [], 0
        self._in_code = self._joined = True

    def _final(self, piece: str) -> list[Row]:
        """The rows of a piece that is over, then the addresses that rows before it wanted."""
        before = set(self._references)
        rows = self._give(self._rows(piece, self._references))
        late = [label for label in self._references if label not in before and label in self._labels]
        self._labels |= {normalizeReference(label) for label in LABEL.findall(piece)} - set(self._references)
        for label in late:
            words = f"[{label.lower()}]: {self._references[label].get('href', '')}"
            rows += wrapped([Span(words)], self._columns)
        return rows

    def _rows(self, piece: str, references: References | None = None) -> list[Row]:
        """`references`: kept, because the piece is over; else only looked at."""
        if self._in_code:
            tokens = parser().parse(piece)
            if tokens and tokens[0].type == "fence" and not tokens[0].content.strip("\n"):
                return []  # only the end of the block is left
        known = dict(self._references) if references is None else references
        return markdown_rows(piece, self._columns, references=known)

    def _stable(self) -> list[Row]:
        """Rows of the block that grows, but for the last one, that are the same however it goes on."""
        tokens = parser().parse(self._rest)
        if any(token.type == "table_open" for token in tokens):
            return []
        rows = self._rows(self._rest)
        count = len(rows) - 1
        for ending in _endings(self._rest, tokens) if count > len(self._given) else ():
            other = self._rows(self._rest.rstrip() + ending)
            count = min(count, _common(rows, other))
        before = _before_a_table(self._rest)
        if before is not None:
            count = min(count, _common(rows, self._rows(before)))
        return self._give(rows[:count]) if count > len(self._given) else []

    def _give(self, rows: list[Row]) -> list[Row]:
        """Those that were not given out before, after a blank row where a block begins."""
        same = self._same(rows)
        fresh = rows[same:]
        if not fresh:
            return []
        gap = self._begun and not self._joined and not self._given
        self._given = [plain(row) for row in rows]
        self._begun = True
        return [EMPTY, *fresh] if gap else fresh

    def _same(self, rows: list[Row]) -> int:
        pairs = zip(self._given, rows, strict=False)
        return next((at for at, (old, new) in enumerate(pairs) if old != plain(new)), min(len(self._given), len(rows)))


def _code_lines(tokens: list[Token], text: str) -> int:
    """How many whole lines of code the block holds that the text ends in; 0 outside of one."""
    if not tokens or tokens[0].type != "fence" or tokens[0].map is None or tokens[0].level:
        return 0
    lines = tokens[0].content.count("\n")
    closed = tokens[0].map[1] - tokens[0].map[0] > lines + 1 and not tokens[0].content.endswith("\n\n")
    whole = text.count("\n", text.index("\n") + 1) if "\n" in text else 0
    return lines if closed else min(lines, whole)


def _endings(text: str, tokens: list[Token]) -> Iterator[str]:
    """What could follow and change how the text before it is read."""
    if not MARKS.isdisjoint(text):
        yield from CLOSERS
    if tokens and tokens[0].type in LISTS:
        yield "\n\n    x"


def _before_a_table(text: str) -> str | None:
    """The text without its last lines, where they may be the head of a table; None where they cannot."""
    lines = text.split("\n")
    start = len(lines)
    while start and start > len(lines) - 2 and ("|" in lines[start - 1] or (start == len(lines) and not lines[-1])):
        start -= 1
    return "\n".join(lines[:start]) if any("|" in line for line in lines[start:]) else None


def _common(rows: list[Row], other: list[Row]) -> int:
    pairs = zip(rows, other, strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if plain(one) != plain(two)), min(len(rows), len(other)))


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at
