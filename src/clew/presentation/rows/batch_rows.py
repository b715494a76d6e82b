"""The calls of a step as rows: one label line that opens to the calls, and these to all they printed and changed."""

from collections.abc import Sequence

from clew.config.schema import Density
from clew.orient.deeds import fitted, grouped, named_call
from clew.presentation.rows.block_rows import QUESTION_COLUMNS, answered_rows, block_rows
from clew.presentation.rows.spans import WIDEST_SCREEN, Row, Span, clipped, preformatted, quiet, said, spread
from clew.presentation.story.call_line import call_line
from clew.presentation.story.passages import BatchPassage, CallShown
from clew.protocol.display import Block, DiffBlock, TableBlock, TodoBlock
from clew.text.figures import count, duration, shown_path
from clew.text.terminal_text import clip, sanitize

LEVELS: dict[str, int] = {"labels": 0, "calls": 1, "full": 2}
DONE, RUNNING, FAILED, REFUSED, WAITING, CUT = "● ", "◐ ", "✗ ", "⊘ ", "? ", "◌ "
LIVE_LINES = 4
"""Of what a running command prints."""
FAILED_LINES = 6
MIN_COLUMNS = 12
FIGURE_COLUMNS = 10
"""Beside a label: how long it took, and whether it is open."""


def batch_rows(
    batch: BatchPassage,
    columns: int,
    *,
    density: Density = "labels",
    tools: dict[str, Density] | None = None,
    opened: int | None = None,
    cwd: str = "",
) -> list[Row]:
    """At the given density; what failed and what runs opens by itself. A call that proposed a plan has no row of its
    own until it is opened: the plan's passage tells what came of it."""
    levels = [level_of(shown, density, tools or {}, opened) for shown in batch.calls]
    if not any(levels) and all(shown.planned for shown in batch.calls):
        return []
    mark, style = _mark(batch.calls)
    room = max(columns - len(mark) - 1, MIN_COLUMNS)
    rows: list[Row] = [
        (Span(mark, style, source=""), *_label_row(batch, room, opened=max(levels, default=0) > 0, cwd=cwd))
    ]
    single = len(batch.calls) == 1
    listing = [shown for shown in batch.calls if any(isinstance(block, TodoBlock) for block in shown.display)]
    for shown, level in zip(batch.calls, levels, strict=True):
        if not level and shown in listing[:-1]:
            continue  # a list of work is shown once, as the last call left it
        if not single and (level or shown.tail):
            rows.append(_call_row(shown, columns, cwd))
        rows += call_details(shown, columns, level, cwd)
    return rows


def next_level(batch: BatchPassage, density: Density, tools: dict[str, Density], opened: int | None) -> int:
    """How far a batch is open after one more press: label, calls, everything, label again."""
    now = max((level_of(shown, density, tools, opened) for shown in batch.calls), default=0)
    return (now + 1) % 3


def level_of(shown: CallShown, density: Density, tools: dict[str, Density], opened: int | None = None) -> int:
    """How closely a call is shown: not, in part, or all of it. What failed, and what had begun to show something when
    it was stopped, is always shown in part."""
    if opened is not None:
        return opened
    level = LEVELS[tools.get(shown.call.name, density)]
    return max(level, 1) if shown.failed or (shown.cut and shown.display) else level


def _mark(calls: Sequence[CallShown]) -> tuple[str, str]:
    if any(shown.state == "asking" for shown in calls):
        return WAITING, "warning"
    if any(shown.state != "ended" for shown in calls):
        return RUNNING, "accent"
    if all(shown.refused for shown in calls):
        return REFUSED, "warning"
    if any(shown.failed for shown in calls):
        return FAILED, "error"
    if any(shown.cut for shown in calls):
        return CUT, "warning"
    return DONE, "success"


def _label_row(batch: BatchPassage, columns: int, *, opened: bool, cwd: str) -> Row:
    calls = batch.calls
    if batch.label:
        tools = f" · {count(len(calls), 'tool')}" if len(calls) > 1 else ""
        words = (
            clip(sanitize(batch.label, one_line=True), max(columns - len(tools) - FIGURE_COLUMNS, MIN_COLUMNS)) + tools
        )
    elif len(calls) == 1:
        words = call_line(calls[0], columns, cwd)
    else:
        words = _combined(calls, columns, cwd)
    done = all(shown.state == "ended" for shown in calls)
    took = sum(shown.duration_ms for shown in calls)
    figures = f"{duration(took)} " if done and took >= 100 else ""
    sign = Span("▾" if opened else "▸", "dim", source="")
    return spread(said(words), (*said(figures, "dim"), sign), columns)


def _combined(calls: Sequence[CallShown], columns: int, cwd: str) -> str:
    """What is done in groups, then what still runs."""
    parts = grouped(deed for shown in calls for deed in shown.deeds)
    going = [shown for shown in calls if shown.state != "ended"]
    if going:
        first = sanitize(named_call(going[0].call, cwd), one_line=True)
        parts = [*parts, first if len(going) == 1 else f"{first} and {len(going) - 1} more"]
    return fitted(parts, columns - FIGURE_COLUMNS) if parts else count(len(calls), "call")


def _call_row(shown: CallShown, columns: int, cwd: str) -> Row:
    mark, style = _mark([shown])
    took = f"{duration(shown.duration_ms)}" if shown.duration_ms >= 100 else ""
    room = columns - 5
    line = spread(said(call_line(shown, room, cwd)), said(took, "dim"), max(room, MIN_COLUMNS))
    return (Span("  ", source=""), Span(mark, style, source=""), *line)


def call_details(shown: CallShown, columns: int, level: int, cwd: str = "") -> list[Row]:
    """What a call shows under its line."""
    indent = said("    ")
    if shown.state != "ended":
        tail = sanitize(shown.tail).replace("\t", "    ").rstrip("\n").split("\n")[-LIVE_LINES:]
        lines = [clipped(said(line, "dim"), columns - 5) for line in tail if line.strip()]
        return preformatted(lines, columns - 1, indent=indent, wrap=False)
    if shown.refused:
        return []
    if shown.unanswered is not None:
        return answered_rows(shown.unanswered, columns - 1, indent)
    rows: list[Row] = []
    for block in shown.display:
        if isinstance(block, TableBlock) and block.columns == QUESTION_COLUMNS:
            rows += answered_rows(block, columns - 1, indent)
        elif level or isinstance(block, TodoBlock):
            named = _is_named(block, shown, cwd)
            rows += block_rows(block, columns - 1, indent=indent, full=level > 1, cwd=cwd, named=named)
    if level and not any(isinstance(block, DiffBlock) for block in shown.display) and (not rows or level > 1):
        known = shown.display and not shown.failed
        if shown.text.strip() and not (known and rows):
            rows += _text_rows(shown.text, columns - 1, indent, full=level > 1)
    return [*_changed_row(shown, columns - 1), *rows] if level else rows


def _is_named(block: Block, shown: CallShown, cwd: str) -> bool:
    """Whether the line of the call itself names the file of this diff."""
    if not isinstance(block, DiffBlock) or sum(isinstance(one, DiffBlock) for one in shown.display) > 1:
        return False
    return sanitize(shown_path(block.path, cwd), one_line=True) in call_line(shown, WIDEST_SCREEN, cwd)


def _changed_row(shown: CallShown, columns: int) -> list[Row]:
    """That it did not run with the model's own words."""
    if not shown.changed_by:
        return []
    who = "A hook" if shown.changed_by == "hook" else "Whoever allowed it"
    return [clipped((Span("    ", source=""), Span(f"{who} changed its input", "dim")), columns)]


def _text_rows(text: str, columns: int, indent: Row, *, full: bool) -> list[Row]:
    lines = sanitize(text).strip("\n").split("\n")
    limit = 500 if full else FAILED_LINES
    rows = preformatted([said(line, "dim") for line in lines[:limit]], columns, indent=indent)
    if len(lines) > limit:
        rows.append((*quiet(indent), Span(f"… {len(lines) - limit:,} more lines", "dim")))
    return rows
