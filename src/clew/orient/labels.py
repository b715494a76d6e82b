"""What tool calls did, in one grammar (verb, subject, outcome): a line per call, per batch and per turn."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from clew.commands.figures import change, count, duration, money, shown_path
from clew.ledger.approvals import not_run
from clew.ledger.calls import AGENT_TOOLS, EDIT_TOOLS, READ_TOOLS, SEARCH_TOOLS, SHELL_TOOLS, Outcome, tool_name
from clew.ledger.commands import CommandsFold, first_program, purpose_of
from clew.ledger.files import FilesFold
from clew.ledger.test_results import TestsFold
from clew.ledger.todos import items_of
from clew.orient.form import file_name, test_counts
from clew.protocol.display import Block, FileBlock, MatchesBlock, TableBlock, TerminalBlock, TextBlock
from clew.protocol.ids import EntryId
from clew.protocol.messages import ToolCallPart, ToolResultPart, call_subject, result_text
from clew.system.terminal_text import clip, display_width, sanitize

MAX_COLUMNS = 100
_ORDER = (
    "Edited",
    "Created",
    "Deleted",
    "Tests",
    "Ran",
    "Read",
    "Searched",
    "Fetched",
    "Agent",
    "Tasks",
    "Used",
    "Refused",
    "Cancelled",
)
_ATTEMPTS = {"Edited": "Edit of", "Read": "Read of", "Searched": "Search for", "Fetched": "Fetch of", "Used": "Use of"}
_MIN_SUBJECT = 8
_INLINE, _FIRST = 3, 2


class Settled(NamedTuple):
    """A call with its result, as a label sees them; without a result it is still running."""

    call: ToolCallPart
    result: ToolResultPart | None
    display: tuple[Block, ...] = ()


class Deed(Struct, frozen=True, kw_only=True):
    """One thing that was done, or was not."""

    verb: str
    subject: str = ""
    short: str = ""
    """The subject where there is little room: a file's name, a program."""
    outcome: str = ""
    failed: bool = False
    added: int = 0
    removed: int = 0
    counts: str = ""
    """For a test run: its figures."""
    is_path: bool = False

    def line(self, columns: int = 0) -> str:
        """One clean line of at most this width; where room is short the subject gives way first. 0: no limit."""
        verb, subject, outcome = (sanitize(part, one_line=True) for part in (self.verb, self.subject, self.outcome))
        if columns and subject:
            outcome = clip(outcome, columns // 2)
            room = max(columns - display_width(f"{verb} ") - display_width(outcome), _MIN_SUBJECT)
            subject = _clip_left(subject, room) if self.is_path else clip(subject, room)
        verb = _ATTEMPTS.get(verb, verb) if self.failed else verb
        line = f"{verb} {subject}{outcome}" if subject else f"{verb}{outcome}"
        return clip(line, columns) if columns else line


def call_line(item: Settled, *, cwd: str = "", columns: int = 0, refused: str | None = None) -> str:
    """The line of one call. `refused`: why it was not allowed, where the front end was told so."""
    if refused is not None:
        why = f": {_first_line(refused)}" if refused else ""
        return Deed(verb="Refused", subject=_named(item.call, cwd), outcome=why).line(columns)
    if item.result is None:
        return Deed(verb=item.call.name, subject=shown_subject(item.call, cwd), outcome=" is still running").line(
            columns
        )
    first, *rest = deeds(item, cwd)
    more = f" (+{len(rest)} more)" if rest else ""
    return first.line(columns - len(more) if columns else 0) + more


def batch_label(batch: Sequence[Settled]) -> str:
    """What the batch did, in one line; "" for an empty batch."""
    return fitted(_grouped(deed for item in batch for deed in deeds(item)))


def turn_line(batch: Sequence[Settled], *, reason: str, duration_ms: int, cost_usd: float | None = None) -> str:
    """What all calls of a turn came to, how it ended unless well, how long it took and what it cost."""
    ended = [] if reason == "completed" else [reason.replace("_", " ")]
    price = [money(cost_usd)] if cost_usd is not None else []
    figures = [*ended, duration(duration_ms), *price]
    told = _grouped(deed for item in batch for deed in deeds(item))
    room = MAX_COLUMNS - display_width(" · ".join(figures)) - 3
    return " · ".join(filter(None, (fitted(told, room), *figures)))


def fitted(parts: Sequence[str], columns: int = MAX_COLUMNS) -> str:
    """The parts joined by a dot, as many as fit, the rest counted."""
    shown: list[str] = []
    for index, part in enumerate(parts):
        rest = len(parts) - index - 1
        tail = f" · and {rest} more" if rest else ""
        if shown and display_width(" · ".join([*shown, part])) + display_width(tail) > columns:
            return " · ".join(shown) + f" · and {rest + 1} more"
        shown.append(part)
    return clip(" · ".join(shown), columns)


def listed(names: Iterable[str]) -> str:
    """All of up to three names; of more the first two and a count."""
    unique = list(dict.fromkeys(names))
    if len(unique) <= _INLINE:
        return ", ".join(unique)
    return f"{', '.join(unique[:_FIRST])} and {len(unique) - _FIRST} more"


def shown_subject(call: ToolCallPart, cwd: str = "") -> str:
    """What a call is about, as a person in this directory would write it."""
    return _short_command(shown_path(call_subject(call), cwd))


def deeds(item: Settled, cwd: str = "") -> list[Deed]:
    """What one call came to: nearly always one deed, more for a patch of several files."""
    call, name = item.call, tool_name(item.call.name)
    text = result_text(item.result) if item.result is not None else ""
    failed = item.result is not None and item.result.is_error
    extra: object = {"display": list(item.display)} if item.display else None
    outcome = Outcome(name, call.arguments, text, failed, extra, EntryId("c"), EntryId("r"))
    why = not_run(outcome)
    if why:
        return [Deed(verb=why.capitalize(), subject=_named(call, cwd), short=_named(call, cwd))]
    if name in EDIT_TOOLS and (done := _edits(outcome, cwd)):
        return done
    if name in SHELL_TOOLS:
        return [_run(outcome)]
    if name == "TodoWrite" and not failed and (items := items_of(call.arguments)):
        done_items = sum(one.status == "completed" for one in items)
        return [Deed(verb="Tasks", subject=f"{done_items}/{len(items)} done", short=f"{done_items}/{len(items)} done")]
    verb = "Read" if name in READ_TOOLS else "Searched" if name in SEARCH_TOOLS else "Used"
    verb = "Agent" if name in AGENT_TOOLS else "Fetched" if name == "WebFetch" else verb
    subject = shown_subject(call, cwd)
    told = f": {_first_line(text) or 'no reason given'}" if failed else _blocks(item.display)
    if verb == "Used":
        return [
            Deed(
                verb=verb,
                subject=_named(call, cwd),
                short=call.name,
                outcome=_failure(told, failed=failed),
                failed=failed,
            )
        ]
    short = file_name(subject) if name in READ_TOOLS else clip(subject, 40)
    is_path = name in READ_TOOLS
    return [
        Deed(
            verb=verb,
            subject=subject,
            short=short,
            outcome=_failure(told, failed=failed),
            failed=failed,
            is_path=is_path,
        )
    ]


def _failure(told: str, *, failed: bool) -> str:
    return f" failed{told}" if failed else told


def _named(call: ToolCallPart, cwd: str) -> str:
    return f"{call.name} {shown_subject(call, cwd)}".strip()


def _edits(outcome: Outcome, cwd: str) -> list[Deed]:
    fold = FilesFold()
    fold.settle(outcome)
    found: list[Deed] = []
    for file in fold.facts():
        path, short = shown_path(file.path, cwd), file_name(file.path)
        if file.failed_edits:
            why = f" failed: {_first_line(outcome.text) or 'no reason given'}"
            found.append(Deed(verb="Edited", subject=path, short=short, outcome=why, failed=True, is_path=True))
            continue
        verb = "Deleted" if file.deleted else "Created" if file.created else "Edited"
        lines = "" if file.deleted else f" {change(file.added, file.removed)}"
        done = Deed(
            verb=verb, subject=path, short=short, outcome=lines, added=file.added, removed=file.removed, is_path=True
        )
        found.append(done)
    return found


def _run(outcome: Outcome) -> Deed:
    command = CommandsFold().settle(outcome)
    short = first_program(command.command) or "a command"
    shown = next(iter(outcome.blocks("terminal")), dict[str, object]())
    run = TestsFold().settle(command, outcome.text, 0) if purpose_of(command.command) == "test" else None
    counts = test_counts(run.passed, run.failed, run.skipped, None) if run else ""
    if command.background:
        told, short = (
            f"in the background as {shown.get('background_id', '')}".removesuffix(" as "),
            f"{short} in the background",
        )
    elif shown.get("timed_out"):
        told, short = "timed out", f"{short} timed out"
    elif command.failed:
        code = f"exit {command.exit_code}" if command.exit_code else "failed" if not shown else "killed"
        last = _last_line(str(shown.get("output", "")) if shown else "")
        told = code + (f": {last}" if last and last != counts else "")
        short = f"{short} failed" + (f" ({code})" if code.startswith("exit") else "")
    else:
        told = counts or "ok"
    subject = _short_command(command.command)
    return Deed(
        verb="Ran", subject=subject, short=short, outcome=f": {counts or told}", failed=command.failed, counts=counts
    )


def _grouped(found: Iterable[Deed]) -> list[str]:
    """Deeds of one verb together: what went well first, then what did not, tests by their figures."""
    groups: dict[tuple[str, bool], list[Deed]] = {}
    for deed in found:
        verb = "Tests" if deed.counts else deed.verb
        groups.setdefault((verb, deed.failed and verb != "Tests"), []).append(deed)
    parts: list[str] = []
    for verb in _ORDER:
        good, bad = groups.get((verb, False), []), groups.get((verb, True), [])
        parts += _good(verb, good) if good else []
        parts += _bad(verb, bad, len(good) + len(bad)) if bad else []
    return [sanitize(part, one_line=True) for part in parts]


def _good(verb: str, group: list[Deed]) -> list[str]:
    names = listed(deed.short for deed in group)
    if verb == "Tests":
        return [group[-1].counts]
    added, removed = sum(deed.added for deed in group), sum(deed.removed for deed in group)
    lines = f" {change(added, removed)}" if verb in ("Edited", "Created") else ""
    return [f"{verb} {names}{lines}"]


def _bad(verb: str, group: list[Deed], total: int) -> list[str]:
    if verb == "Ran":
        more = [f"{len(group) - 2} more commands failed"] if len(group) > 2 else []
        return [*(deed.short for deed in group[:2]), *more]
    names = listed(deed.short for deed in group)
    what = {"Edited": "edits", "Read": "reads", "Agent": "agents"}.get(verb, "calls")
    return [
        f"{_ATTEMPTS.get(verb, verb)} {names} failed"
        if total == 1
        else f"{len(group)} of {total} {what} failed ({names})"
    ]


def _blocks(display: Sequence[Block]) -> str:
    for block in display:
        match block:
            case FileBlock(lines=lines) if lines:
                first = max(block.first_line, 1)
                whole = first == 1 and lines >= block.total_lines > 0
                return f" ({count(lines, 'line')})" if whole else f" (lines {first}-{first + lines - 1})"
            case MatchesBlock():
                where = f" in {count(len(block.files), 'file')}" if block.files else ""
                return f": {count(block.matches, 'match', 'matches')}{where}"
            case TableBlock():
                rows = f"{count(len(block.rows), 'row')} of {', '.join(block.columns)}"
                return f": {' · '.join(filter(None, block.rows[0])) if len(block.rows) == 1 else rows}"
            case TextBlock(text=text):
                return f": {_first_line(text)}"
            case TerminalBlock() | _:
                continue
    return ""


def _short_command(command: str) -> str:
    lines = [line for line in command.splitlines() if line.strip()]
    return command.strip() if len(lines) < 2 else f"{lines[0].strip()} (+{count(len(lines) - 1, 'line')})"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _clip_left(text: str, columns: int) -> str:
    """The end of a path: its file name tells more than its root."""
    if display_width(text) <= columns:
        return text
    while text and display_width(text) > columns - 1:
        text = text[1:]
    return "…" + text
