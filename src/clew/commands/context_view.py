"""What fills the window, as a grid of letters with its legend, and as plain data for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from clew.protocol.event_kinds.context import ContextMeasured, ContextShare
from clew.text.figures import money
from clew.text.terminal_text import clip, display_width, sanitize

FREE = "free"
GRID_ROWS = 4
MIN_COLUMNS = 40
MARKS = {
    "system prompt": "S",
    "memory": "M",
    "tools": "T",
    "your words": "Y",
    "notes of clew": "N",
    "agent's words": "A",
    "reasoning": "R",
    "tool calls": "C",
    "media": "P",
    "summary": "Z",
    FREE: ".",
}
SOURCE_CHARS = 8
"""Enough of an entry's id to name it in one session."""
RESULT_MARK = "O"
"""Results of all tools: their names are in the legend."""


def context_lines(measured: ContextMeasured, *, columns: int = 80) -> tuple[str, ...]:
    """The whole view; no line is wider than `columns` (at least 40)."""
    width = max(MIN_COLUMNS, columns)
    lines = [_headline(measured)]
    if measured.shares:
        lines += ["", *_grid(measured.shares, width - 2), "", *_legend(measured, width)]
    if measured.largest:
        lines += ["", "Largest:", *_largest(measured, width)]
    lines += ["", *_outlook(measured)] if measured.shares else list(_outlook(measured))
    return tuple(clip(sanitize(line, one_line=True), width) for line in lines)


def context_data(measured: ContextMeasured) -> dict[str, Any]:
    """The same for programs. Texts are as they were measured: whoever shows them sanitises them."""
    return {
        "model": measured.model,
        "tokens": measured.tokens,
        "window": measured.window,
        "share": _share(measured.tokens, measured.window),
        "estimated": measured.estimated,
        "next_cost_usd": measured.next_cost_usd,
        "warn_at": measured.warn_at,
        "auto_at": measured.auto_at,
        "shares": msgspec.to_builtins(measured.shares),
        "largest": [{"name": item.name, "tokens": item.tokens, "source": item.source} for item in measured.largest],
    }


def _headline(measured: ContextMeasured) -> str:
    where = f", {measured.model}" if measured.model else ""
    if measured.tokens is None:
        return f"Context: unknown, of {measured.window:,} tokens{where}"
    about = "about " if measured.estimated else ""
    if measured.window <= 0:
        return f"Context: {about}{measured.tokens:,} tokens, window unknown{where}"
    percent = _percent(measured.tokens, measured.window)
    return f"Context: {about}{measured.tokens:,} of {measured.window:,} tokens ({percent}){where}"


def _outlook(measured: ContextMeasured) -> Iterator[str]:
    if measured.auto_at:
        percent = _percent(measured.auto_at, measured.window)
        yield f"Room is made by itself at {measured.auto_at:,} tokens ({percent})."
    else:
        yield "Room is made only when you ask: /compact, or /clear."
    if measured.next_cost_usd is not None:
        yield f"Sending it again costs {money(measured.next_cost_usd)}."


def _grid(shares: Sequence[ContextShare], width: int) -> Iterator[str]:
    """Rows of letters, each standing for the same number of tokens."""
    total = sum(max(0, share.tokens) for share in shares)
    if total <= 0:
        return
    cells = GRID_ROWS * width
    exact = [max(0, share.tokens) * cells / total for share in shares]
    counts = [int(value) for value in exact]
    order = sorted(range(len(exact)), key=lambda index: counts[index] - exact[index])
    for index in order[: cells - sum(counts)]:
        counts[index] += 1
    letters = "".join(_mark(share.name) * count for share, count in zip(shares, counts, strict=True))
    for row in range(GRID_ROWS):
        yield "  " + letters[row * width : (row + 1) * width]


def _legend(measured: ContextMeasured, width: int) -> Iterator[str]:
    names = width - 24
    for share in sorted(measured.shares, key=lambda share: (share.name == FREE, -share.tokens)):
        name = _padded(share.name, names)
        whole = measured.window if measured.window > 0 else sum(one.tokens for one in measured.shares)
        yield f"  {_mark(share.name)} {name} {share.tokens:>11,} {_percent(share.tokens, whole):>6}"


def _largest(measured: ContextMeasured, width: int) -> Iterator[str]:
    for item in measured.largest:
        name = _padded(item.name, width - 15 - SOURCE_CHARS)
        source = clip(sanitize((item.source or "")[:SOURCE_CHARS], one_line=True), SOURCE_CHARS)
        yield f"  {item.tokens:>9,}  {name}  {source}".rstrip()


def _mark(name: str) -> str:
    return MARKS.get(name, RESULT_MARK)


def _padded(text: str, columns: int) -> str:
    """Exactly so many columns, whatever the script."""
    shown = clip(sanitize(text, one_line=True), columns)
    return shown + " " * (columns - display_width(shown))


def _percent(part: int, whole: int) -> str:
    if whole <= 0:
        return ""
    share = 100 * part / whole
    return f"{share:.1f} %" if 0 < share < 10 else f"{share:.0f} %"


def _share(tokens: int | None, window: int) -> float | None:
    return round(tokens / window, 4) if tokens is not None and window > 0 else None
