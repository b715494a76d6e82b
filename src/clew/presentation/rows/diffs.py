"""A change of a file as rows: line numbers, what was there and what is there now, and the words that differ."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from msgspec import Struct

from clew.presentation.rows.code import highlighted
from clew.presentation.rows.spans import EMPTY, Row, Span, merged, plain, preformatted, said
from clew.text.terminal_text import sanitize

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
MAX_WORDS = 400
"""Longer lines are not compared word by word."""
ALIKE = 0.4
"""Lines with less in common are told as removed and added, without marks inside."""


class PatchLine(Struct, frozen=True):
    """One line of a patch."""

    sign: str
    """`-`, `+`, a blank for context, `@` where lines are left out, `…` where the rest is."""
    number: int
    """In the file as it is now; for a removed line in the file as it was."""
    text: str


def changes(patch: str) -> Iterator[PatchLine]:
    """The lines of a unified diff without file headers."""
    old, new, begun = 1, 1, False
    for line in sanitize(patch).split("\n"):
        found = _HUNK.match(line)
        if found:
            old, new = int(found[1]), int(found[2])
            if begun:
                yield PatchLine("@", new, "")
            begun = True
        elif line.startswith("-"):
            yield PatchLine("-", old, line[1:])
            old += 1
        elif line.startswith("+"):
            yield PatchLine("+", new, line[1:])
            new += 1
        elif line.startswith(" "):
            yield PatchLine(" ", new, line[1:])
            old, new = old + 1, new + 1
        elif line:
            yield PatchLine("…", new, line)  # where the patch itself was cut


def diff_rows(patch: str, columns: int, *, path: str = "", indent: str = "", max_lines: int = 0) -> list[Row]:
    """The patch at a width. `max_lines`: the first lines only, and how many more there are."""
    lines = list(changes(patch))
    hidden = len(lines) - max_lines if 0 < max_lines < len(lines) else 0
    shown = lines[:max_lines] if hidden else lines
    size = len(str(max((line.number for line in shown), default=1)))
    marked = _marked(shown)
    rows: list[Row] = []
    for index, line in enumerate(shown):
        if line.sign in "@…":
            rows.append(said(f"{indent}{'⋮'.rjust(size)} {line.text}".rstrip(), "dim"))
            continue
        style = {"-": "removed", "+": "added"}.get(line.sign, "")
        sign = {"-": "−", "+": "+"}.get(line.sign, " ")
        margin: Row = (Span(f"{indent}{line.number:>{size}} ", "dim"), Span(f"{sign} ", style or "dim"))
        body = marked.get(index) or _body(line, style, path)
        rows += preformatted([body], columns, indent=margin)
    if hidden:
        rows.append(said(f"{indent}{'…'.rjust(size)} {hidden:,} more lines", "dim"))
    return rows


def _body(line: PatchLine, style: str, path: str) -> Row:
    if style or not path:
        return said(line.text, style)
    coloured = highlighted(line.text, path=path)
    return coloured[0] if coloured and plain(coloured[0]) == line.text else said(line.text)


def _marked(lines: list[PatchLine]) -> dict[int, Row]:
    """Removed lines beside the added ones that took their place, with the words that differ."""
    found: dict[int, Row] = {}
    index = 0
    while index < len(lines):
        removed = _run(lines, index, "-")
        added = _run(lines, index + len(removed), "+")
        for old, new in zip(removed, added, strict=False):
            pair = _compared(lines[old].text, lines[new].text)
            if pair is not None:
                found[old], found[new] = pair
        index += (len(removed) + len(added)) or 1
    return found


def _run(lines: list[PatchLine], start: int, sign: str) -> range:
    end = start
    while end < len(lines) and lines[end].sign == sign:
        end += 1
    return range(start, end)


def _compared(old: str, new: str) -> tuple[Row, Row] | None:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if not before or not after or max(len(before), len(after)) > MAX_WORDS:
        return None
    if SequenceMatcher(None, before, after, autojunk=False).ratio() < ALIKE:
        return None
    return word_changes(old, new)


def word_changes(old: str, new: str) -> tuple[Row, Row]:
    """A line as it was and as it is, with the words that differ marked in both."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    left: list[Span] = []
    right: list[Span] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = tag == "equal"
        left.append(Span("".join(before[a:b]), "removed" if same else "removed-word"))
        right.append(Span("".join(after[c:d]), "added" if same else "added-word"))
    return merged(left) or EMPTY, merged(right) or EMPTY
