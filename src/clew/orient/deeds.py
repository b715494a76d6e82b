"""What tool calls did, in one grammar (verb, subject, outcome): a line per call, per batch and per turn."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clew.ledger.commands import first_program, purpose_of
from clew.ledger.test_results import parse
from clew.orient.team_deeds import VERBS, team_deed
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
from clew.protocol.messages import ToolCallPart
from clew.text.figures import change, count, duration, money, shown_path
from clew.text.terminal_text import clip, display_width, sanitize
from clew.transcript.chain.standing import QUESTION_TOOLS, question_of

ShownBlock = DiffBlock | FileBlock | TerminalBlock | MatchesBlock | TodoBlock | TableBlock | TextBlock
MAX_COLUMNS = 100
_SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt")
"""Arguments that tell what a call is about, the most telling first."""
_ORDER = (
    *("Edited", "Created", "Deleted", "Tests", "Ran", "Read", "Searched", "Fetched"),
    *("Agent", "Tasks", *VERBS, "Used", "Asked", "Refused", "Cancelled", "Cut off"),
)
_ATTEMPTS = {"Edited": "Edit of", "Read": "Read of", "Searched": "Search for", "Fetched": "Fetch of", "Used": "Use of"}
_KEYWORDS = frozenset({"for", "while", "until", "if", "case", "select", "function", "{", "(", "[["})
_MIN_SUBJECT = 8
_INLINE, _FIRST = 3, 2


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
    deleted: int = 0
    """Files that went with it."""
    lost: int = 0
    """Effects that undo cannot bring back."""

    def line(self, columns: int = 0) -> str:
        """One clean line of at most this width; where room is short the subject gives way first. 0: no limit."""
        verb, subject, outcome = (sanitize(part, one_line=True) for part in (self.verb, self.subject, self.outcome))
        verb = _ATTEMPTS.get(verb, verb) if self.failed else verb
        if columns and subject:
            outcome = clip(outcome, columns // 2)
            room = max(columns - display_width(f"{verb} ") - display_width(outcome), _MIN_SUBJECT)
            subject = _clip_left(subject, room) if self.is_path else clip(subject, room)
        line = f"{verb} {subject}{outcome}" if subject else f"{verb}{outcome}"
        return clip(line, columns) if columns else line


def lined(found: Sequence[Deed], columns: int = 0) -> str:
    """The line of a call's deeds; of several the first, and how many more there are."""
    more = f" (+{len(found) - 1} more)" if len(found) > 1 else ""
    return found[0].line(columns - len(more) if columns else 0) + more


def of_blocks(call: ToolCallPart, display: Sequence[Block], cwd: str = "") -> list[Deed]:
    """What a call shows to have done; empty where it shows nothing. What it did to files beside is told with its first
    deed."""
    if (told := team_deed(call, display)) is not None:
        return [Deed(verb=told.verb, subject=told.subject, short=told.subject, outcome=told.outcome)]
    found = [_shown(call, block, cwd) for block in display if not isinstance(block, ChangesBlock)]
    effects = [block for block in display if isinstance(block, ChangesBlock)]
    if not effects:
        return found
    deleted, lost = sum(block.deleted for block in effects), sum(len(block.lost) for block in effects)
    first = found[0] if found else used(call, "Used", "", failed=False, cwd=cwd)
    told = "".join(f", {words}" for words in effect_words(deleted, lost))
    return [replace(first, outcome=first.outcome + told, deleted=deleted, lost=lost), *found[1:]]


def effect_words(deleted: int, lost: int) -> list[str]:
    """What a person would want to know of: deletions, and what is gone for good."""
    words = [f"{count(deleted, 'file')} deleted"] if deleted else []
    return [*words, f"{count(lost, 'effect')} cannot be undone"] if lost else words


def refused(call: ToolCallPart, reason: str, cwd: str = "") -> Deed:
    """A call that a rule or a person did not allow."""
    named = named_call(call, cwd)
    return Deed(verb="Refused", subject=named, short=named, outcome=f": {first_line(reason)}" if reason else "")


def cut_off(call: ToolCallPart, cwd: str = "") -> Deed:
    """A call that was stopped before it ended."""
    if call.name == "Bash":
        subject = subject_of(call, cwd)
        return Deed(verb="Cut off", subject=subject or call.name, short=_program(subject))
    asked = question_of(call.arguments) if call.name in QUESTION_TOOLS else ""
    subject = f"the question: {asked}" if asked else named_call(call, cwd)
    return Deed(verb="Cut off", subject=subject, short="a question" if asked else call.name)


def unanswered(call: ToolCallPart, why: str) -> Deed:
    """A question that got no answer, and whose doing that is."""
    asked = question_of(call.arguments) if call.name in QUESTION_TOOLS else ""
    return Deed(verb="Asked", subject=asked or "a question", short=f"a question ({why})", outcome=f" ({why})")


def running(call: ToolCallPart, cwd: str = "") -> Deed:
    """A call that takes its time."""
    return Deed(verb=call.name, subject=subject_of(call, cwd), outcome=" is still running")


def used(call: ToolCallPart, verb: str, text: str, *, failed: bool, cwd: str = "") -> Deed:
    """A call that shows nothing, told from its name, its arguments and, where it failed, the reason it gave."""
    outcome = f" failed: {first_line(text) or 'no reason given'}" if failed else ""
    if verb == "Used":
        return Deed(verb=verb, subject=named_call(call, cwd), short=call.name, outcome=outcome, failed=failed)
    subject = subject_of(call, cwd)
    short = (file_name(subject) if verb in ("Read", "Edited") else clip(subject, 40)) or call.name
    is_path = verb in ("Read", "Edited")
    return Deed(verb=verb, subject=subject, short=short, outcome=outcome, failed=failed, is_path=is_path)


def turn_line(found: Iterable[Deed], *, reason: str, duration_ms: int, cost_usd: float | None = None) -> str:
    """What all calls of a turn came to, how it ended unless well, how long it took and what it cost."""
    ended = [] if reason == "completed" else [reason.replace("_", " ")]
    price = [money(cost_usd)] if cost_usd is not None else []
    figures = [*ended, duration(duration_ms), *price]
    room = MAX_COLUMNS - display_width(" · ".join(figures)) - 3
    return " · ".join(filter(None, (fitted(grouped(found), room), *figures)))


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


def grouped(found: Iterable[Deed]) -> list[str]:
    """Deeds of one verb together: what went well first, then what did not, tests by their figures."""
    groups: dict[tuple[str, bool], list[Deed]] = {}
    found = list(found)
    for deed in found:
        verb = "Tests" if deed.counts else deed.verb
        groups.setdefault((verb, deed.failed and verb != "Tests"), []).append(deed)
    deleted, lost = sum(deed.deleted for deed in found), sum(deed.lost for deed in found)
    parts = effect_words(deleted, lost)
    if deleted and not lost:
        parts[0] += " (/undo brings them back)"
    for verb in _ORDER:
        good, bad = groups.get((verb, False), []), groups.get((verb, True), [])
        parts += [_good(verb, good)] if good else []
        parts += _bad(verb, bad, len(good) + len(bad)) if bad else []
    return [sanitize(part, one_line=True) for part in parts]


def listed(names: Iterable[str]) -> str:
    """All of up to three names; of more the first two and a count."""
    unique = list(dict.fromkeys(names))
    if len(unique) <= _INLINE:
        return ", ".join(unique)
    return f"{', '.join(unique[:_FIRST])} and {len(unique) - _FIRST} more"


def subject_of(call: ToolCallPart, cwd: str = "") -> str:
    """What a call is about, in the words of its arguments; empty when it has none."""
    texts = [call.arguments.get(name) for name in _SUBJECTS] + list(call.arguments.values())
    subject = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return short_command(shown_path(subject, cwd))


def named_call(call: ToolCallPart, cwd: str = "") -> str:
    """A tool's name and what it was called with."""
    return f"{call.name} {subject_of(call, cwd)}".strip()


def short_command(command: str) -> str:
    """The first line of a command, and how many more there are."""
    lines = [line for line in command.splitlines() if line.strip()]
    return command.strip() if len(lines) < 2 else f"{lines[0].strip()} (+{count(len(lines) - 1, 'line')})"


def first_line(text: str) -> str:
    """The first line with something on it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def last_line(text: str) -> str:
    """The last line with something on it: where programs say what went wrong, and test runners what they counted."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def file_name(path: str) -> str:
    """The last part of a path, whichever slashes it has."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _shown(call: ToolCallPart, block: ShownBlock, cwd: str) -> Deed:
    match block:
        case DiffBlock():
            path = shown_path(block.path, cwd)
            return Deed(
                verb="Created" if block.created else "Edited",
                subject=path,
                short=file_name(path),
                outcome=f" {change(block.added, block.removed)}",
                added=block.added,
                removed=block.removed,
                is_path=True,
            )
        case FileBlock():
            path = shown_path(block.path, cwd)
            return Deed(verb="Read", subject=path, short=file_name(path), outcome=_range(block), is_path=True)
        case TerminalBlock():
            return _ran(block)
        case MatchesBlock():
            where = f" in {count(len(block.files), 'file')}" if block.files else ""
            found = f": {count(block.matches, 'match', 'matches')}{where}"
            return Deed(verb="Searched", subject=block.pattern, short=clip(block.pattern, 40), outcome=found)
        case TodoBlock():
            done = sum(1 for item in block.items if item.status == "completed")
            current = next((item for item in block.items if item.status == "in_progress"), None)
            now = f", now: {current.active_form or current.content}" if current else ""
            told = f"{done}/{len(block.items)} done"
            return Deed(verb="Tasks", subject=told, short=told, outcome=now)
        case TableBlock():
            rows = f"{count(len(block.rows), 'row')} of {', '.join(block.columns)}"
            told = " · ".join(cell for cell in block.rows[0] if cell) if len(block.rows) == 1 else rows
            return Deed(verb="Used", subject=call.name, short=call.name, outcome=f": {told}")
        case TextBlock() if call.name == "Agent":
            subject = subject_of(call, cwd)
            return Deed(verb="Agent", subject=subject, short=subject, outcome=f": {first_line(block.text)}")
        case TextBlock():
            return Deed(verb="Used", subject=call.name, short=call.name, outcome=f": {first_line(block.text)}")


def _range(block: FileBlock) -> str:
    if not block.lines:
        return ""
    first = max(block.first_line, 1)
    if first == 1 and block.lines >= block.total_lines > 0:
        return f" ({count(block.lines, 'line')})"
    return f" (lines {first}-{first + block.lines - 1})"


def ran(command: str, output: str, told: str, *, ended: str = "", failed: bool = False) -> Deed:
    """A command; what a test run printed as its figures is told instead of how it ended."""
    counts = test_counts(*found[1:]) if purpose_of(command) == "test" and (found := parse(output)) else ""
    return Deed(
        verb="Ran",
        subject=short_command(command),
        short=f"{_program(command)} {ended}".rstrip(),
        outcome=f": {counts or told}",
        failed=failed,
        counts=counts,
    )


def _program(command: str) -> str:
    """What ran, in a word."""
    program = first_program(command)
    return "a script" if program in _KEYWORDS else program or "a command"


def test_counts(passed: int | None, failed: int | None, skipped: int | None) -> str:
    """A test run's figures as runners put them; "" when it printed none."""
    counted = ((passed, "passed"), (failed, "failed"), (skipped, "skipped"))
    return ", ".join(f"{number} {word}" for number, word in counted if number)


def _ran(block: TerminalBlock) -> Deed:
    if block.background_id:
        return ran(block.command, "", f"in the background as {block.background_id}", ended="in the background")
    if block.stopped:
        return Deed(verb="Cut off", subject=short_command(block.command), short=_program(block.command))
    failed, ended = True, "failed"
    if block.timed_out:
        told = ended = "timed out"
    elif block.exit_code is None:
        told = "killed"
    elif block.exit_code == 0:
        failed, told, ended = False, "ok", ""
    else:
        last = last_line(block.output)
        told = f"exit {block.exit_code}{': ' + last if last else ''}"
        ended = f"failed (exit {block.exit_code})"
    return ran(block.command, block.output, told, ended=ended, failed=failed)


def _good(verb: str, group: list[Deed]) -> str:
    if verb == "Tests":
        return group[-1].counts
    if verb == "Tasks":  # each tells of the whole list
        return f"{verb} {group[-1].short}"
    added, removed = sum(deed.added for deed in group), sum(deed.removed for deed in group)
    lines = f" {change(added, removed)}" if verb in ("Edited", "Created") else ""
    return f"{verb} {listed(deed.short for deed in group)}{lines}".rstrip()


def _bad(verb: str, group: list[Deed], total: int) -> list[str]:
    if verb == "Ran":
        more = [f"{len(group) - 2} more commands failed"] if len(group) > 2 else []
        return [*(deed.short for deed in group[:2]), *more]
    names = listed(deed.short for deed in group)
    what = {"Edited": "edits", "Read": "reads", "Agent": "agents"}.get(verb, "calls")
    if total == 1:
        return [f"{_ATTEMPTS.get(verb, verb)} {names} failed"]
    return [f"{len(group)} of {total} {what} failed ({names})"]


def _clip_left(text: str, columns: int) -> str:
    """The end of a path: its file name tells more than its root."""
    if display_width(text) <= columns:
        return text
    while text and display_width(text) > columns - 1:
        text = text[1:]
    return "…" + text
