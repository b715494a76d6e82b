"""What an edit would change, seen before it is allowed: from the arguments of the call alone, marked word by word."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

from msgspec import Struct

from clew.presentation.rows.diffs import PatchLine as PatchLine
from clew.presentation.rows.diffs import changes, word_changes
from clew.presentation.rows.spans import Row, Span
from clew.protocol.messages import ToolCallPart
from clew.text.terminal_text import reveal

CONTEXT_LINES = 3
MAX_COMPARED_LINES = 2000
"""Longer texts are shown as removed and added, without looking for what is the same."""
MAX_COMPARED_CHARS = 2000
"""Longer lines are marked as a whole."""
MAX_COMPARISONS = 400
"""Pairs of lines of one block that are compared."""
ALIKE = 0.5
"""From this share of equal text on two lines count as one that was changed."""
EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
TOLD = frozenset({"old_string", "new_string", "replace_all", "edits", "content", "new_source"})
"""Arguments that the preview shows."""


class TextReplacement(Struct, frozen=True, kw_only=True):
    """One piece of text that another takes the place of."""

    old: str = ""
    new: str = ""
    everywhere: bool = False
    """Wherever the old text occurs."""
    whole: bool = False
    """The new text is all there will be."""


def changes_of(call: ToolCallPart) -> tuple[TextReplacement, ...]:
    """The changes a call asks for; empty for calls of another kind, and where the arguments have no such shape."""
    given = call.arguments
    if call.name not in EDITS:
        return ()
    if call.name == "Write":
        return (TextReplacement(new=_text(given.get("content")), whole=True),)
    if call.name == "NotebookEdit":
        return (TextReplacement(new=_text(given.get("new_source")), whole=True),)
    listed: Any = given.get("edits")
    edits = cast("list[Any]", listed) if isinstance(listed, list | tuple) and listed else [given]
    return tuple(
        TextReplacement(
            old=_text(edit.get("old_string")),
            new=_text(edit.get("new_string")),
            everywhere=edit.get("replace_all") is True,
        )
        for edit in (cast("dict[str, Any]", item) for item in edits if isinstance(item, dict))
    )


def change_lines(change: TextReplacement, *, max_chars: int = 0) -> list[Row]:
    """The change as lines behind `−`, `+` or a blank; made visible first, so that what is compared is what is seen."""
    old = reveal(change.old, max_chars=max_chars).split("\n") if change.old else []
    new = reveal(change.new, max_chars=max_chars).split("\n") if change.new else []
    if len(old) + len(new) > MAX_COMPARED_LINES or not (old and new):
        return [*_marked("−", old), *_marked("+", new)]
    rows: list[Row] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        rows += _left_out(rows, group[0][1])
        for kind, first, last, start, end in group:
            if kind == "equal":
                rows += [(Span("  "), Span(line)) for line in old[first:last]]
            else:
                rows += _replaced(old[first:last], new[start:end])
    return rows


def patch_lines(patch: str, *, max_chars: int = 0, around: int = CONTEXT_LINES) -> list[Row]:
    """A diff of the file as lines with their numbers, behind `−`, `+` or a blank; made visible first. `around`: how
    many of the lines beside a change are shown."""
    text = reveal(patch, max_chars=max_chars)
    lines = list(changes(text))
    if around < CONTEXT_LINES:
        near = {at + by for at, line in enumerate(lines) if line.sign in "+-" for by in range(-around, around + 1)}
        lines = [line for at, line in enumerate(lines) if at in near or line.sign in "@…"]
    size = len(str(max((line.number for line in lines), default=1)))
    rows: list[Row] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.sign in "@…":
            rows.append((Span(f"{'⋯'.rjust(size)} {line.text}".rstrip(), "dim"),))
            at += 1
        elif line.sign == " ":
            rows.append((Span(f"{line.number:>{size}} ", "dim"), Span("  "), Span(line.text)))
            at += 1
        else:
            gone = list(_run(lines[at:], "-"))
            came = list(_run(lines[at + len(gone) :], "+"))
            told = _replaced([one.text for one in gone], [one.text for one in came])
            numbered = zip((*gone, *came), told, strict=True)
            rows += [(Span(f"{one.number:>{size}} ", "dim"), *row) for one, row in numbered]
            at += len(gone) + len(came)
    return rows


def _run(lines: Sequence[PatchLine], sign: str) -> Iterator[PatchLine]:
    for line in lines:
        if line.sign != sign:
            return
        yield line


def counted(changes: Sequence[TextReplacement]) -> tuple[int, int]:
    """Lines added and removed."""
    rows = [row for change in changes for row in change_lines(change)]
    return (sum(row[0].text == "+ " for row in rows), sum(row[0].text == "− " for row in rows))


def change_words(change: TextReplacement, number: int, total: int) -> str:
    """What the lines of a change do not say themselves."""
    if change.whole:
        return "all of the new text:"
    place = f"change {number} of {total}" if total > 1 else ""
    return ", ".join(part for part in (place, "wherever the old text stands" if change.everywhere else "") if part)


def _left_out(rows: list[Row], first: int) -> list[Row]:
    return [(Span("  ⋯", "dim"),)] if rows or first else []


def _marked(sign: str, lines: Sequence[str]) -> list[Row]:
    style = "added" if sign == "+" else "removed"
    return [(Span(f"{sign} ", style), Span(line, style)) for line in lines]


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Removed lines, then added ones. In lines that became each other the changed words are marked."""
    before: dict[int, Row] = {}
    after: dict[int, Row] = {}
    for gone, came in _pairs(old, new):
        before[gone], after[came] = word_changes(old[gone], new[came])
    for at, line in enumerate(old):
        yield (Span("− ", "removed"), *before.get(at, (Span(line, "removed"),)))
    for at, line in enumerate(new):
        yield (Span("+ ", "added"), *after.get(at, (Span(line, "added"),)))


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Which removed line became which added one, in order; blocks that are too long are not searched."""
    if len(old) * len(new) > MAX_COMPARISONS:
        return
    free = 0
    for gone, line in enumerate(old):
        came = next((at for at in range(free, len(new)) if _alike(line, new[at])), None)
        if came is not None:
            yield gone, came
            free = came + 1


def _alike(one: str, other: str) -> bool:
    if not one.strip() or not other.strip() or max(len(one), len(other)) > MAX_COMPARED_CHARS:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
