"""Markdown as rows at a width: headings, lists, quotes, tables, code, links. A model wrote it, so it is made safe."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from clew.presentation.rows.code import highlighted
from clew.presentation.rows.markdown_inline import inline
from clew.presentation.rows.spans import (
    EMPTY,
    GOES_ON,
    Row,
    Span,
    clipped,
    goes_on,
    plain,
    preformatted,
    prose_columns,
    said,
    width_of,
    wrapped,
)
from clew.text.terminal_text import sanitize

MAX_OPEN_CODE_LINES = 200
"""Code that is still being written is marked up to here; it is done once more when it is whole."""
SIGNS = frozenset("*_`[]~|<>\\&!")
"""Characters that may mean something in the middle of a paragraph, or will once more of it is there."""
PARAGRAPH_TOKENS = 3
HEADINGS = {1: "heading-1", 2: "heading-2", 3: "heading-3"}
"""The style of each level; deeper ones are all the same."""
BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


@cache
def parser() -> MarkdownIt:
    """The one reading of Markdown. HTML stays text. Nesting is bounded, whatever a model writes."""
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])


References = dict[str, dict[str, Any]]
"""Where links lead that are defined apart (`[1]: https://...`), by their labels as the parser writes them."""


def parsed(text: str, references: References) -> list[Token]:
    """The tokens of a safe text. `references`: what is defined before it; its own definitions are added."""
    return parser().parse(text, {"references": references})


def markdown_rows(text: str, columns: int, *, references: References | None = None) -> list[Row]:
    """All of a text that is whole, or of a piece of one whose `references` are known."""
    return _Renderer(columns).rows(parsed(sanitize(text), {} if references is None else references))


class GrowingMarkdown:
    """Rows of a text that is still being written. Only its last block is looked at again."""

    def __init__(self, columns: int, *, margin: Row = EMPTY) -> None:
        self._columns = columns
        self._margin = margin
        """What every row begins with; not counted in the columns."""
        self._settled: list[Row] = []
        self._words: _GrowingWords | None = None
        """While the last block is a paragraph of words without any mark: then only its last row can change."""
        self._seen_chars = 0
        self._done_chars = 0
        """So much of the text has its final rows."""
        self._known: References = {}
        """What is defined in that much of it."""
        self._used: References = {}
        """What its rows were made with: a definition may also come later."""
        self._may_refer = False

    def rows(self, text: str) -> list[Row]:
        """The text so far; it may only ever grow."""
        if self._words is not None:
            more = text[self._seen_chars :]
            self._seen_chars = len(text)
            if _only_words(more):
                return [*self._settled, *([EMPTY] if self._settled else []), *self._words.more(more)]
            self._words = None
        rest = sanitize(text[self._done_chars :])
        tokens = parsed(rest, found := dict(self._known))
        if self._may_refer and found != self._used:
            return self._anew(text, found)
        self._used = found
        return self._grown(text, rest, tokens)

    def _anew(self, text: str, found: References) -> list[Row]:
        """Links in rows that were final lead somewhere else now."""
        self._settled, self._done_chars, self._may_refer = [], 0, False
        self._known, self._used = {}, found
        rest = sanitize(text)
        return self._grown(text, rest, parsed(rest, {}))

    def _grown(self, text: str, rest: str, tokens: list[Token]) -> list[Row]:
        tops = [index for index, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
        lines = tokens[tops[-1]].map if len(tops) > 1 else None
        if lines:
            cut = _offset(rest, lines[0])
            # Sanitising may change lengths: the cut must mean the same in the text as it came.
            if sanitize(text[self._done_chars : self._done_chars + cut]) == rest[:cut]:
                settled = _Renderer(self._columns).rows(tokens[: tops[-1]])
                self._settled += [*([EMPTY] if self._settled else []), *self._behind(settled)]
                self._done_chars += cut
                self._may_refer = self._may_refer or "]" in rest[:cut]
                parsed(rest[:cut], self._known)
                rest = rest[cut:]
                tokens = parsed(rest, dict(self._used))
        is_paragraph = len(tokens) == PARAGRAPH_TOKENS and tokens[0].type == "paragraph_open"
        if is_paragraph and _only_words(tokens[1].content) and rest.lstrip().rstrip(" ") == tokens[1].content:
            self._words = _GrowingWords(prose_columns(self._columns), self._margin)
            self._seen_chars = len(text)
            tail = self._words.more(tokens[1].content + " " * (len(rest) - len(rest.rstrip(" "))))
        else:
            tail = self._behind(_Renderer(self._columns, growing=True).rows(tokens))
        return [*self._settled, *([EMPTY] if self._settled and tail else []), *tail]

    def _behind(self, rows: list[Row]) -> list[Row]:
        return [(*self._margin, *row) if row else EMPTY for row in rows]


class _GrowingWords:
    """A paragraph in which nothing but words arrives."""

    def __init__(self, columns: int, margin: Row) -> None:
        self._columns = columns
        self._margin = margin
        self._full: list[Row] = []
        self._last = ""

    def more(self, text: str) -> list[Row]:
        """Its rows, with these words at the end."""
        self._last += text
        made = wrapped([Span(self._last)], self._columns)
        self._full += [(*self._margin, *row) for row in made[:-1]]
        kept = len(plain(made[-1]))
        blanks = len(self._last) - len(self._last.rstrip(" "))
        self._last = self._last[len(self._last) - kept - blanks :]
        return [*self._full, (*self._margin, *made[-1])] if made[-1] else list(self._full)


def _only_words(text: str) -> bool:
    """Nothing in it can mean anything to Markdown, now or later."""
    return text.isprintable() and SIGNS.isdisjoint(text)


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at


class _Renderer:
    """Walks the tokens of one text."""

    def __init__(self, columns: int, *, growing: bool = False) -> None:
        self._columns = columns
        self._growing = growing

    def rows(self, tokens: Sequence[Token]) -> list[Row]:
        """A blank row between blocks."""
        return self._blocks(list(tokens), self._columns)

    def _blocks(self, tokens: list[Token], columns: int, *, tight: bool = False) -> list[Row]:
        rows: list[Row] = []
        for block in _siblings(tokens):
            made = self._block(block, columns)
            if rows and made and not tight:
                rows.append(EMPTY)
            rows += made
        return rows

    def _block(self, block: list[Token], columns: int) -> list[Row]:
        first = block[0]
        match first.type:
            case "heading_open":
                level = int(first.tag[1]) if first.tag[1:].isdigit() else 1
                return wrapped(inline(block[1], HEADINGS.get(level, "italic")), prose_columns(columns))
            case "paragraph_open":
                return wrapped(inline(block[1]), prose_columns(columns))
            case "fence" | "code_block":
                return self._code(first, columns)
            case "hr":
                return [(Span("─" * min(columns, 40), "dim", source="---"),)]
            case "blockquote_open":
                inner = self._blocks(block[1:-1], max(prose_columns(columns) - 2, 8))
                quoted = [_styled(row, "quote") for row in inner]
                return _beside(quoted, Span("│ ", "dim", source="> "), every=True)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(block, columns)
            case "table_open":
                return _table(block, columns)
            case _:
                return wrapped([Span(sanitize(first.content))], columns) if first.content else []

    def _code(self, token: Token, columns: int) -> list[Row]:
        text = token.content.removesuffix("\n")
        language = (token.info.split() or [""])[0]
        if self._growing and text.count("\n") > MAX_OPEN_CODE_LINES:
            language = ""
        return preformatted(highlighted(text, language), columns, indent=said("  "))

    def _list(self, block: list[Token], columns: int) -> list[Row]:
        number = int(block[0].attrs.get("start", 1)) if block[0].type == "ordered_list_open" else None
        items = list(_siblings(block[1:-1]))
        tight = all(
            token.hidden for token in block if token.type == "paragraph_open" and token.level == block[0].level + 2
        )
        size = len(str((number or 0) + len(items) - 1)) + 2 if number is not None else 2
        rows: list[Row] = []
        for index, item in enumerate(items):
            said_as = f"{number + index}. " if number is not None else "- "
            mark = said_as.rjust(size) if number is not None else "• "
            if number is None and (box := _task_box(item)):
                mark, said_as = box
            inner = self._blocks(item[1:-1], max(columns - size, 8), tight=tight) or [EMPTY]
            if rows and not tight:
                rows.append(EMPTY)
            rows.append((Span(mark, "dim", source=said_as), *inner[0]))
            rows += _beside(inner, Span(" " * size))[1:]
        return rows


def _task_box(item: list[Token]) -> tuple[str, str] | None:
    """The box of a task in place of its bullet, and what it is copied as; the words lose their brackets."""
    inline = next((token for token in item if token.type == "inline"), None)
    if inline is None or item[1].type != "paragraph_open" or not inline.children:
        return None
    first = inline.children[0]
    box = first.content[:4] if first.type == "text" else ""
    if box not in BOXES:
        return None
    first.content = first.content[4:]
    return BOXES[box], f"- {box}"


def _siblings(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each block, its closing one included."""
    depth, block = 0, list[Token]()
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []
    if block:
        yield block


def _styled(row: Row, style: str) -> Row:
    return tuple(
        span if span.style == GOES_ON else span._replace(style=f"{span.style} {style}".strip()) for span in row
    )


def _beside(rows: list[Row], margin: Span, *, every: bool = False) -> list[Row]:
    """Rows behind a margin of their block. It is copied where a line of the text begins, not where one goes on and not
    before blanks that are clew's own. `every`: it stands before empty rows too."""
    silent = margin._replace(source="")
    made: list[Row] = []
    on = False
    for row in rows:
        own = on or bool(row and row[0].source == "")
        made.append((silent if own else margin, *row) if row or every else row)
        on = goes_on(row) is not None
    return made


def _table(block: list[Token], columns: int) -> list[Row]:
    """Columns share the width by what they need; cells that do not fit are wrapped."""
    cells: list[list[list[Span]]] = []
    sides: list[str] = []
    for token in block:
        if token.type == "tr_open":
            cells.append([])
        elif token.type == "th_open":
            sides.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif token.type == "inline" and cells:
            cells[-1].append(inline(token))
    count = max((len(row) for row in cells), default=0)
    if not count:
        return []
    wanted = [max((width_of(row[index]) for row in cells if index < len(row)), default=1) for index in range(count)]
    room = columns - 3 * (count - 1)
    if room < count * 4:
        return _stacked(cells, columns)
    sizes = _shares(wanted, room)
    sides += [""] * (count - len(sides))
    rows: list[Row] = []
    for number, row in enumerate(cells):
        padded = [*row, *([list[Span]()] * (count - len(row)))]
        rows += _table_row(padded, sizes, sides, style="bold" if number == 0 else "")
        if number == 0:
            rule = "─┼─".join("─" * size for size in sizes)
            rows.append((Span(rule, "dim", source=" | ".join(["---"] * count)),))
    return rows


def _table_row(cells: list[list[Span]], sizes: list[int], sides: list[str], *, style: str) -> list[Row]:
    """One row of a table. Where a cell takes several rows of the screen, what is copied is the whole cell, once."""
    made = [wrapped(cell, size) for cell, size in zip(cells, sizes, strict=True)]
    height = max(map(len, made))
    rows: list[Row] = []
    for line in range(height):
        spans: list[Span] = []
        for index, cell_rows in enumerate(made):
            piece = clipped(_ended(cell_rows[line]), sizes[index]) if line < len(cell_rows) else EMPTY
            if height > 1:
                piece = tuple(span._replace(source="") for span in piece)
                piece = (piece[0]._replace(source=plain(cells[index])), *piece[1:]) if piece and not line else piece
            before, after = _padding(sizes[index] - width_of(piece), sides[index])
            spans += [Span(before, source=""), *(_styled(piece, style) if style else piece)]
            if index < len(made) - 1:
                spans += [Span(after, source=""), Span(" │ ", "dim", source="" if line else " | ")]
        if line < height - 1:
            spans.append(Span("", GOES_ON, source=""))
        rows.append(tuple(span for span in spans if span.text or span.style == GOES_ON))
    return rows


def _ended(row: Row) -> Row:
    return tuple(span for span in row if span.text)


def _padding(room: int, side: str) -> tuple[str, str]:
    """The blanks before and after a cell that is set to the left, the right or the middle."""
    before = {"right": room, "center": room // 2}.get(side, 0)
    return " " * before, " " * (room - before)


def _shares(wanted: list[int], room: int) -> list[int]:
    """Every column what it wants if all fit; else the wide ones give way until they do."""
    sizes = [max(size, 1) for size in wanted]
    while sum(sizes) > room:
        widest = max(sizes)
        index = sizes.index(widest)
        second = max((size for size in sizes if size < widest), default=widest - 1)
        over = sum(sizes) - room
        sizes[index] -= max(1, min(widest - second, over))
    return sizes


def _stacked(cells: list[list[list[Span]]], columns: int) -> list[Row]:
    """A table where there is no room for one: a line per cell, under the name of its column."""
    heads = [plain(cell) for cell in cells[0]]
    rows: list[Row] = []
    for row in cells[1:]:
        for index, cell in enumerate(row):
            head = heads[index] if index < len(heads) else ""
            rows += wrapped([Span(f"{head}: ", "dim"), *cell], columns, hang=said("  "))
        rows.append(EMPTY)
    return rows[:-1]
