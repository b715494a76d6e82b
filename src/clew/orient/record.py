"""What was done in a session and what tools showed, one line each: for a model that reads a recap over."""

from collections.abc import Iterator, Sequence

from clew.ledger.facts import Ledger
from clew.ledger.words import clip, flat
from clew.orient.claims import NUMBER, roots_in
from clew.orient.dialog import Line
from clew.text.redact import redact

_LAST = 30
"""So many commands, files and errors."""
_WORDS = 30
_LINE_CHARS = 200
_ENDING = 10
"""How the last output ended is often how it all ended."""


def record_of(ledger: Ledger, text: str, dialog: Sequence[Line]) -> str:
    """What was done, and what tools showed that has to do with a text; secrets masked."""
    done = "\n".join(clip(flat(line), _WORDS) for line in _done(ledger))
    return redact(f"RECORD\n{done}\n\nSHOWN BY TOOLS (quoted)\n{_shown(text, dialog)}")


def _shown(text: str, dialog: Sequence[Line]) -> str:
    """The lines of what tools were given and gave that share most with a text, and the last ones, in their order."""
    wanted = {root for root in roots_in(text) if len(root) > 3} | {*NUMBER.findall(text)}
    lines = dict.fromkeys(line.strip() for shown in dialog if shown.by_tool for line in shown.text.splitlines())
    shares = [len(wanted & (roots_in(line) | {*NUMBER.findall(line)})) for line in lines]
    least = max([1, *sorted(shares)[-_LAST:][:1]])
    found = [line for line, share in zip(lines, shares, strict=True) if share >= least][-_LAST:]
    found += [line for line in [*lines][-_ENDING:] if line not in found]
    return "\n".join(line[:_LINE_CHARS] for line in found)


def _done(ledger: Ledger) -> Iterator[str]:
    for file in ledger.files[-_LAST:]:
        deeds = {"read": file.reads, "created": file.created, "edited": file.edits, "deleted": file.deleted}
        done = ", ".join(deed for deed, was in deeds.items() if was)
        yield f"file {file.path}: {done}" if done else f"file {file.path}: could not be edited"
    for run in ledger.commands[-_LAST:]:
        ended = "in the background" if run.background else "failed" if run.failed else "ok"
        yield f"command {ended}: {run.command}"
    for test in ledger.tests[-3:]:
        counts = f"{test.passed} passed, {test.failed or 0} failed" if test.passed or test.failed else ""
        yield f"test run {'failed' if test.ok is False else 'ok' if test.ok else ''} {counts}: {test.command}"
    for check in ledger.checks[-3:]:
        yield f"{check.kind} {'failed' if check.ok is False else 'ok' if check.ok else ''}: {check.command}"
    for commit in ledger.commits[-5:]:
        yield f"{commit.kind} {commit.ref} {commit.subject} {commit.url}"
    for asked in ledger.approvals[-_LAST:]:
        if asked.decision == "deny":
            yield f"refused by {'a rule' if asked.by_rule else 'the user'}: {asked.tool} {asked.subject}"
    for item in ledger.todos.items if ledger.todos else ():
        yield f"task {item.status}: {item.content}"
    for agent in ledger.agents[-5:]:
        yield f"agent {agent.name} {agent.standing}: {agent.task}"
    for error in ledger.current_errors[-5:]:
        yield f"error in {error.where}: {error.text}"
