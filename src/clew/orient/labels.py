"""Labels for tool batches, by code: verb and nouns first, failures told, never wider than 100 columns."""

from collections.abc import Sequence
from typing import NamedTuple

from clew.ledger.calls import (
    AGENT_TOOLS,
    EDIT_TOOLS,
    READ_TOOLS,
    SEARCH_TOOLS,
    SHELL_TOOLS,
    Outcome,
    tool_name,
)
from clew.ledger.commands import CommandsFold, first_program, purpose_of
from clew.ledger.files import FilesFold
from clew.ledger.test_results import TestsFold
from clew.ledger.todos import items_of
from clew.orient.clauses import file_name
from clew.protocol.display import Block
from clew.protocol.ids import EntryId
from clew.protocol.messages import ToolCallPart, ToolResultPart, result_text
from clew.system.terminal_text import sanitize
from clew.system.terminal_width import clip, display_width

MAX_COLUMNS = 100
_INLINE = 3
_FIRST = 2


class Settled(NamedTuple):
    """A call of a batch with its result, as a label sees them."""

    call: ToolCallPart
    result: ToolResultPart | None
    display: tuple[Block, ...] = ()


def batch_label(batch: Sequence[Settled]) -> str:
    """What the batch did, in one line; "" for an empty batch."""
    outcomes = [_outcome(item) for item in batch]
    parts = [
        *_edits(outcomes),
        *_commands(outcomes),
        *_reads(outcomes),
        *_searches(outcomes),
        *_agents(outcomes),
        *_others(outcomes),
    ]
    return fitted([sanitize(part, one_line=True) for part in parts if part])


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


def _outcome(item: Settled) -> Outcome:
    text = result_text(item.result) if item.result is not None else ""
    failed = item.result.is_error if item.result is not None else False
    extra: object = {"display": list(item.display)} if item.display else None
    return Outcome(tool_name(item.call.name), item.call.arguments, text, failed, extra, EntryId("c"), EntryId("r"))


def listed(names: Sequence[str]) -> str:
    """All of up to three names; of more the first two and a count."""
    unique = list(dict.fromkeys(names))
    if len(unique) <= _INLINE:
        return ", ".join(unique)
    return f"{', '.join(unique[:_FIRST])} and {len(unique) - _FIRST} more"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `3 files`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _edits(outcomes: Sequence[Outcome]) -> list[str]:
    fold = FilesFold()
    for outcome in outcomes:
        if outcome.name in EDIT_TOOLS:
            fold.settle(outcome)
    facts = fold.facts()
    made = [file for file in facts if file.created]
    changed = [file for file in facts if file.edits and not file.created and not file.deleted]
    gone = [file for file in facts if file.deleted]
    failed = [file for file in facts if file.failed_edits]
    parts: list[str] = []
    if changed:
        added, removed = sum(file.added for file in changed), sum(file.removed for file in changed)
        parts.append(f"Edited {listed([file_name(file.path) for file in changed])}{_lines(added, removed)}")
    if made:
        parts.append(
            f"Created {listed([file_name(file.path) for file in made])}{_lines(sum(f.added for f in made), 0)}"
        )
    if gone:
        parts.append(f"Deleted {listed([file_name(file.path) for file in gone])}")
    if failed:
        total = sum(outcome.name in EDIT_TOOLS for outcome in outcomes)
        bad = sum(file.failed_edits for file in failed)
        names = listed([file_name(file.path) for file in failed])
        parts.append(f"Edit of {names} failed" if total == 1 else f"{bad} of {total} edits failed ({names})")
    return parts


def _lines(added: int, removed: int) -> str:
    plus = f" +{added}" if added else ""
    return plus + (f" −{removed}" if removed else "")


def _commands(outcomes: Sequence[Outcome]) -> list[str]:
    runs = [outcome for outcome in outcomes if outcome.name in SHELL_TOOLS]
    commands, tests = CommandsFold(), TestsFold()
    results: list[str] = []
    names: list[str] = []
    failed: list[str] = []
    for outcome in runs:
        command = commands.settle(outcome)
        name = first_program(command.command) or "a command"
        if purpose_of(command.command) == "test":
            run = tests.settle(command, outcome.text, 0)
            if run and (run.passed is not None or run.failed):
                results.append(", ".join(_counts(run.passed, run.failed, run.skipped)))
                continue
        if command.failed:
            code = f" (exit {command.exit_code})" if command.exit_code else ""
            failed.append(f"{name} failed{code}")
        else:
            names.append(f"{name} in the background" if command.background else name)
    parts = [f"Ran {listed(names)}"] if names else []
    return [*results, *failed[:2], *([f"{len(failed) - 2} more commands failed"] if len(failed) > 2 else []), *parts]


def _counts(passed: int | None, failed: int | None, skipped: int | None) -> list[str]:
    parts = [f"{passed} passed"] if passed else []
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{skipped} skipped"] if skipped else []
    return parts or ["no tests ran"]


def _reads(outcomes: Sequence[Outcome]) -> list[str]:
    good = [
        o.argument("file_path", "notebook_path", "path") for o in outcomes if o.name in READ_TOOLS and not o.is_error
    ]
    bad = [o.argument("file_path", "notebook_path", "path") for o in outcomes if o.name in READ_TOOLS and o.is_error]
    parts = [f"Read {listed([file_name(path) or 'a file' for path in good])}"] if good else []
    return parts + ([f"Read of {listed([file_name(path) or 'a file' for path in bad])} failed"] if bad else [])


def _searches(outcomes: Sequence[Outcome]) -> list[str]:
    found = [outcome for outcome in outcomes if outcome.name in SEARCH_TOOLS or outcome.name == "WebFetch"]
    files = [o.argument("pattern", "query", "path") for o in found if o.name != "WebFetch" and not o.is_error]
    pages = [o.argument("url") for o in found if o.name == "WebFetch" and not o.is_error]
    bad = sum(outcome.is_error for outcome in found)
    parts = [f"Searched {listed([clip(pattern, 40) for pattern in files if pattern])}"] if any(files) else []
    parts += [f"Fetched {listed([clip(_host(url), 40) for url in pages])}"] if pages else []
    return parts + ([f"{counted(bad, 'search', 'searches')} failed"] if bad else [])


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0] or url


def _agents(outcomes: Sequence[Outcome]) -> list[str]:
    started = [outcome for outcome in outcomes if outcome.name in AGENT_TOOLS]
    if not started:
        return []
    bad = sum(outcome.is_error for outcome in started)
    tasks = listed([clip(outcome.argument("description", "prompt"), 40) for outcome in started])
    return [
        f"{'Agent' if len(started) == 1 else 'Agents'}: {tasks}",
        *([f"{counted(bad, 'agent')} failed"] if bad else []),
    ]


_KNOWN = EDIT_TOOLS | READ_TOOLS | SEARCH_TOOLS | SHELL_TOOLS | AGENT_TOOLS | {"WebFetch"}


def _others(outcomes: Sequence[Outcome]) -> list[str]:
    parts: list[str] = []
    names: list[str] = []
    bad: list[str] = []
    for outcome in outcomes:
        if outcome.name == "TodoWrite" and not outcome.is_error:
            items = items_of(outcome.arguments)
            done = sum(item.status == "completed" for item in items)
            parts.append(f"Tasks {done}/{len(items)} done")
        elif outcome.name not in _KNOWN:
            (bad if outcome.is_error else names).append(outcome.name)
    parts += [f"Used {listed(names)}"] if names else []
    return parts + ([f"{listed(bad)} failed"] if bad else [])
