"""What a tool shows to people, as rows: diffs, commands with their output, lists, tables."""

from clew.commands.todos import with_numbers
from clew.presentation.rows.diffs import diff_rows
from clew.presentation.rows.spans import Row, Span, clipped, plain, preformatted, quiet, said, wrapped
from clew.protocol.display import (
    Block,
    ChangesBlock,
    DiffBlock,
    FileBlock,
    MatchesBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
    TodoItem,
)
from clew.text.figures import count, shown_path
from clew.text.terminal_text import sanitize

DIFF_LINES = 16
OUTPUT_LINES = 8
FULL_LINES = 1_000
LISTED = 6
QUESTION_COLUMNS = ("question", "answer")
"""Of the table that tells what a person answered."""
_TODO = {"completed": ("☑ ", "dim strike"), "in_progress": ("▸ ", "bold"), "pending": ("☐ ", "")}


def block_rows(block: Block, columns: int, *, indent: Row, full: bool, cwd: str = "", named: bool = False) -> list[Row]:
    """The block at a width; a part of it unless all is wanted. `named`: the row above names the file of a diff."""
    match block:
        case DiffBlock():
            rows = _diff(block, columns, indent, full=full, cwd=cwd)
            return rows[1:] if named and len(rows) > 1 and not block.created else rows
        case TerminalBlock():
            return _terminal(block, columns, indent, full=full)
        case TodoBlock():
            numbered = with_numbers(block.items)
            return [row for item in block.items for row in _todo(item, columns, indent, numbered=numbered)]
        case MatchesBlock():
            return _listed(list(block.files), columns, indent, full=full)
        case ChangesBlock():
            gone = [f"deleted {path}" for path in block.gone]
            more = block.deleted - len(block.gone)
            gone += [f"and {more:,} more deleted"] if more > 0 and block.gone else []
            lost = [said(f"cannot be undone: {sanitize(line, one_line=True)}", "warning") for line in block.lost]
            return [*_listed(gone, columns, indent, full=full), *preformatted(lost, columns, indent=indent)]
        case TableBlock():
            return _table(block, columns, indent, full=full)
        case TextBlock():
            lines = sanitize(block.text).strip("\n").split("\n")
            return _cut([said(line, "dim") for line in lines], columns, indent, FULL_LINES if full else OUTPUT_LINES)
        case FileBlock():
            return []


def _diff(block: DiffBlock, columns: int, indent: Row, *, full: bool, cwd: str) -> list[Row]:
    path = sanitize(shown_path(block.path, cwd), one_line=True)
    empty = not block.patch and not block.added and not block.removed
    what = "new file" if block.created else ""
    what = f"{what}, empty" if what and empty else what
    head = clipped((*quiet(indent), Span(path, "dim"), Span(f"  {what}" if what else "", "dim")), columns)
    if empty:
        return [head]
    if not block.patch:
        return [head, (*quiet(indent), Span(f"+{block.added:,} −{block.removed:,} lines, too many to show", "dim"))]
    limit = FULL_LINES if full else DIFF_LINES
    return [head, *diff_rows(block.patch, columns, path=path, indent=plain(indent), max_lines=limit)]


def _terminal(block: TerminalBlock, columns: int, indent: Row, *, full: bool) -> list[Row]:
    shown = [Span("$ ", "dim", source=""), Span(sanitize(block.command), "code")]
    rows = wrapped(shown, columns, first=quiet(indent), hang=(*indent, Span("  ")))
    rows = rows if full else rows[:4]
    output = sanitize(block.output).strip("\n")
    if output:
        lines = output.split("\n")
        limit = FULL_LINES if full else OUTPUT_LINES
        hidden = max(len(lines) - limit, 0)
        if hidden:
            rows.append((*quiet(indent), Span(f"… {count(hidden, 'line')} before", "dim")))
        rows += preformatted([said(line, "dim") for line in lines[hidden:]], columns, indent=indent)
    if block.background_id:
        rows.append((*quiet(indent), Span(f"runs in the background as {block.background_id}", "dim")))
    elif block.timed_out:
        rows.append((*quiet(indent), Span("timed out", "error")))
    elif block.exit_code not in (0, None):
        rows.append((*quiet(indent), Span(f"exit {block.exit_code}", "error")))
    return rows


def _todo(item: TodoItem, columns: int, indent: Row, *, numbered: bool) -> list[Row]:
    mark, style = _TODO.get(item.status, _TODO["pending"])
    words = item.active_form if item.status == "in_progress" and item.active_form else item.content
    first: Row = (*quiet(indent), Span(mark, "accent" if item.status == "in_progress" else "dim"))
    words = f"#{item.number} {words}" if numbered and item.number else words
    waits = f" (after {', '.join(f'#{one}' for one in item.blocked_by)})" if item.blocked_by else ""
    beside = f"{f' @{sanitize(item.owner, one_line=True)}' if item.owner else ''}{waits}"
    spans = [Span(sanitize(words, one_line=True), style), *([Span(beside, "dim")] if beside else [])]
    return wrapped(spans, columns, first=first, hang=(*indent, Span("  ")))


def _listed(lines: list[str], columns: int, indent: Row, *, full: bool) -> list[Row]:
    rows = [said(sanitize(line, one_line=True), "dim") for line in lines]
    return _cut(rows, columns, indent, FULL_LINES if full else LISTED)


def _cut(rows: list[Row], columns: int, indent: Row, limit: int) -> list[Row]:
    made = preformatted(rows[:limit], columns, indent=indent)
    return [*made, (*quiet(indent), Span(f"… {len(rows) - limit:,} more", "dim"))] if len(rows) > limit else made


def answered_rows(block: TableBlock, columns: int, indent: Row) -> list[Row]:
    """Questions that were put to a person, each with its answer."""
    rows: list[Row] = []
    margin = quiet(indent)
    for question, answer, *_ in block.rows:
        rows += wrapped([Span(sanitize(question, one_line=True), "dim")], columns, first=margin, hang=indent)
        arrow: Row = (*margin, Span("→ ", "accent"))
        rows += wrapped([Span(sanitize(answer), "bold")], columns, first=arrow, hang=(*indent, Span("  ")))
    return rows


def _table(block: TableBlock, columns: int, indent: Row, *, full: bool) -> list[Row]:
    lines = [" · ".join(sanitize(cell, one_line=True) for cell in row if cell) for row in block.rows]
    return _listed(lines, columns, indent, full=full)
