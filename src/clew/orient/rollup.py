"""One line for a finished turn: files, commands, result, time, cost."""

from clew.ledger.facts import Ledger
from clew.orient.clauses import file_name
from clew.orient.labels import counted, fitted, listed
from clew.protocol.entries import TurnResultEntry
from clew.system.terminal_text import sanitize


def turn_line(before: Ledger, after: Ledger, ended: TurnResultEntry) -> str:
    """What the turn between two ledgers came to."""
    orders = {file.path: file.order for file in before.files}
    changed = [file for file in after.changed_files if file.order > orders.get(file.path, 0)]
    parts: list[str] = []
    if changed:
        old = {file.path: (file.added, file.removed) for file in before.files}
        added = sum(file.added - old.get(file.path, (0, 0))[0] for file in changed)
        removed = sum(file.removed - old.get(file.path, (0, 0))[1] for file in changed)
        lines = (f" +{added}" if added else "") + (f" −{removed}" if removed else "")
        parts.append(listed([file_name(file.path) for file in changed]) + lines)
    commands = after.command_count - before.command_count
    if commands:
        parts.append(counted(commands, "command"))
    run = after.tests[-1] if after.tests and after.tests[-1] not in before.tests else None
    if run and (run.passed is not None or run.failed):
        parts.append(", ".join([f"{run.passed or 0} passed", *([f"{run.failed} failed"] if run.failed else [])]))
    commits = [item.ref for item in after.commits if item.kind == "commit" and item not in before.commits and item.ref]
    if commits:
        parts.append(f"committed {listed(commits)}")
    if ended.reason != "completed":
        parts.append(ended.reason.replace("_", " "))
    parts.append(duration_words(ended.duration_ms))
    if ended.cost_usd is not None:
        parts.append(f"${ended.cost_usd:.2f}" if ended.cost_usd >= 0.01 else f"${ended.cost_usd:.4f}")
    return fitted([sanitize(part, one_line=True) for part in parts])


def duration_words(milliseconds: int) -> str:
    """`0.4 s`, `12 s`, `3 min 5 s`, `1 h 2 min`."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
