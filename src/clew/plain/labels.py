"""One line per tool call, told from its display blocks; from name and arguments where it has none."""

from msgspec import Struct
from msgspec.structs import replace

from clew.commands.figures import change, count, shown_path
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
)
from clew.protocol.events import ToolEnded
from clew.protocol.messages import ToolCallPart, call_subject, result_text
from clew.system.terminal_text import clip, display_width, sanitize

MIN_SUBJECT = 8
"""Columns a subject keeps on the narrowest screen."""


def first_line(text: str) -> str:
    """The first line with something on it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def last_line(text: str) -> str:
    """The last line with something on it: where programs say what went wrong, and test runners what they counted."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def short_command(command: str) -> str:
    """The first line of a command, and how many more there are."""
    lines = [line for line in command.splitlines() if line.strip()]
    if len(lines) < 2:
        return command.strip()
    return f"{lines[0].strip()} (+{count(len(lines) - 1, 'line')})"


class Label(Struct, frozen=True):
    """Words around a subject. Where room is short the subject gives way, not an outcome of up to half a line."""

    verb: str
    subject: str = ""
    outcome: str = ""
    is_path: bool = False

    def text(self, columns: int = 0) -> str:
        """One sanitised line of at most this width; 0 for no limit."""
        verb, subject, outcome = (sanitize(part, one_line=True) for part in (self.verb, self.subject, self.outcome))
        head, tail = f"{verb} " if subject else verb, outcome
        if columns and subject:
            tail = clip(tail, columns // 2)
            room = max(columns - display_width(head) - display_width(tail), MIN_SUBJECT)
            subject = clip_left(subject, room) if self.is_path else clip(subject, room)
        line = f"{head}{subject}{tail}"
        return clip(line, columns) if columns else line


def clip_left(text: str, columns: int) -> str:
    """The end of a path: its file name tells more than its root."""
    if display_width(text) <= columns:
        return text
    while text and display_width(text) > columns - 1:
        text = text[1:]
    return "…" + text


def running_label(call: ToolCallPart, cwd: str) -> Label:
    """For a call that takes its time."""
    return Label(call.name, short_command(shown_path(call_subject(call) if call else "", cwd)), " is still running")


def denied_label(name: str, call: ToolCallPart | None, reason: str, cwd: str) -> Label:
    """For a call that a rule or a person did not allow."""
    why = f": {first_line(reason)}" if reason else ""
    return Label(f"Denied: {name}", short_command(shown_path(call_subject(call) if call else "", cwd)), why)


def call_labels(event: ToolEnded, call: ToolCallPart | None, cwd: str) -> list[Label]:
    """What the call came to: nearly always one label, more for a call with several blocks."""
    subject = short_command(shown_path(call_subject(call) if call else "", cwd))
    if event.result.is_error and not any(isinstance(block, TerminalBlock) for block in event.display):
        why = first_line(result_text(event.result)) or "no reason given"
        return [Label(event.name, subject, f" failed: {why}")]
    told = [
        Label(f"{event.name}:", _table(block)) if isinstance(block, TableBlock) else block_label(block, cwd)
        for block in event.display
        if not isinstance(block, ChangesBlock)
    ]
    told = told or [Label(event.name, subject)]
    effects = "".join(changes_words(block) for block in event.display if isinstance(block, ChangesBlock))
    return [replace(told[0], outcome=told[0].outcome + effects), *told[1:]]


def changes_words(block: ChangesBlock) -> str:
    """What a command did that a person would want to know of: deletions, and what is gone for good."""
    deleted = f", {count(block.deleted, 'file')} deleted" if block.deleted else ""
    return deleted + (f", {count(len(block.lost), 'effect')} cannot be undone" if block.lost else "")


def call_line(event: ToolEnded, call: ToolCallPart | None, cwd: str, columns: int = 0) -> str:
    """The line for one call; of several labels the first, and how many more there are."""
    first, *rest = call_labels(event, call, cwd)
    if not rest:
        return first.text(columns)
    more = f" (+{len(rest)} more)"
    return first.text(columns - len(more) if columns else 0) + more


def block_label(block: Block, cwd: str) -> Label:
    """The words for one block."""
    match block:
        case DiffBlock():
            verb = "Created" if block.created else "Edited"
            tail = f" {change(block.added, block.removed)}"
            return Label(verb, shown_path(block.path, cwd), tail, is_path=True)
        case FileBlock():
            return Label("Read", shown_path(block.path, cwd), _range(block), is_path=True)
        case TerminalBlock():
            return Label("Ran", short_command(block.command), f": {_outcome(block)}")
        case ChangesBlock():
            return Label(changes_words(block).removeprefix(", "))
        case MatchesBlock():
            where = f" in {count(len(block.files), 'file')}" if block.files else ""
            return Label("Searched", block.pattern, f": {count(block.matches, 'match', 'matches')}{where}")
        case TodoBlock():
            return Label(_todos(block))
        case TableBlock():
            return Label(_table(block))
        case TextBlock():
            return Label(first_line(block.text))


def _range(block: FileBlock) -> str:
    if not block.lines:
        return ""
    first = max(block.first_line, 1)
    if first == 1 and block.lines >= block.total_lines > 0:
        return f" ({count(block.lines, 'line')})"
    return f" (lines {first}-{first + block.lines - 1})"


def _outcome(block: TerminalBlock) -> str:
    if block.background_id:
        return f"in the background as {block.background_id}"
    if block.timed_out:
        return "timed out"
    if block.exit_code is None:
        return "killed"
    if block.exit_code == 0:
        return "ok"
    last = last_line(block.output)
    return f"exit {block.exit_code}{': ' + last if last else ''}"


def _table(block: TableBlock) -> str:
    """A single row says it all; of many, how many and of what."""
    if len(block.rows) == 1:
        return " · ".join(cell for cell in block.rows[0] if cell)
    return f"{count(len(block.rows), 'row')} of {', '.join(block.columns)}"


def _todos(block: TodoBlock) -> str:
    done = sum(1 for item in block.items if item.status == "completed")
    current = next((item for item in block.items if item.status == "in_progress"), None)
    now = f", now: {current.active_form or current.content}" if current else ""
    return f"Tasks: {done} of {len(block.items)} done{now}"
