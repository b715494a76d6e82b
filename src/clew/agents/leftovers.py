"""What earlier processes and ended agents left: children without an end in their parent's log, and checkouts."""

import os
import stat
import time
from pathlib import Path

from msgspec.structs import replace

from clew.agents.checkouts import Checkouts, Receipt, line_of
from clew.agents.child_files import ChildFiles, last_words, spent_in
from clew.agents.child_run import END_BYTES
from clew.agents.report import digest, facts_of
from clew.protocol.event_kinds.agents import AgentEnded, TaskRow
from clew.protocol.ids import AgentId, TaskId
from clew.protocol.standing import Standing
from clew.text.figures import duration

KIND = "worktree"
PREFIX = "worktree:"
"""Before the name of a checkout, so that it is no agent's id."""
MAX_COUNTED = 50_000
"""Files whose sizes are added up; of more the sum is a lower bound."""


def end_of_lost(files: ChildFiles, checkouts: Checkouts, row: TaskRow) -> AgentEnded:
    """The end of a child whose process died, with the report of what its own log holds."""
    agent = AgentId(row.task_id)
    path, meta = files.transcript(agent), files.meta(agent)
    ended = AgentEnded(
        child=agent,
        standing=Standing.INTERRUPTED,
        by="session",
        task=row.title,
        name=row.name,
        kind=row.agent_kind,
        call_id=meta.call_id if meta is not None else None,
        background=True,
        team=meta.team if meta is not None else "",
        output_file=str(path or ""),
    )
    if meta is not None and meta.isolated:
        left = checkouts.left_by(agent)
        ended = replace(ended, worktree=left.path, work_ref=left.ref, carried=left.carried)
    if path is None or not path.exists():
        return ended
    past = files.past(agent)
    said = last_words(past.chain)
    return replace(
        ended,
        result=digest(said, END_BYTES),
        tally=spent_in(path, meta.run_from if meta is not None else 0),
        facts=facts_of(past.entries, said=said),
    )


def leftover_rows(checkouts: Checkouts) -> tuple[TaskRow, ...]:
    """The checkouts that nobody works in, as tasks that have ended."""
    return tuple(
        TaskRow(
            task_id=TaskId(f"{PREFIX}{receipt.agent}"),
            kind=KIND,
            title=line_of(receipt),
            standing=Standing.COMPLETED,
            age_s=age_of(checkouts, receipt),
            tail=(f"{size_words(receipt)}, {duration(int(age_of(checkouts, receipt) * 1000))} old",),
        )
        for receipt in checkouts.all()
        if not receipt.in_use
    )


def leftover_words(checkouts: Checkouts, name: str) -> tuple[TaskRow, str] | None:
    """One of them with all that is known of it; None: there is none of this id."""
    row = next((row for row in leftover_rows(checkouts) if row.task_id == name), None)
    receipt = checkouts.find(AgentId(name.removeprefix(PREFIX)))
    if row is None or receipt is None:
        return None
    lines = (
        f"Checkout: {receipt.path} ({row.tail[0]})",
        f"Made from: {receipt.root} at {receipt.base[:12]}, branch {receipt.branch}, by session {receipt.session}",
        f"Kept because: {receipt.why or 'its process died'}",
        f"Saved: {f'{receipt.ref}/head' if receipt.saved else 'not yet'}",
        f"/tasks clean {row.task_id} saves what it holds and removes it",
    )
    return row, "\n".join(lines)


def cleaned(checkouts: Checkouts, name: str) -> tuple[str, ...]:
    """What became of a leftover, or of `all`: each is removed only once what it holds is in its repository. Raises
    ValueError for one that is not there."""
    wanted = name.removeprefix(PREFIX)
    chosen = [receipt for receipt in checkouts.all() if wanted == "all" or receipt.agent == wanted]
    if not chosen and wanted != "all":
        raise ValueError(f"there is no checkout {wanted}; /tasks lists them")
    return tuple(checkouts.clean(receipt) for receipt in chosen)


def age_of(checkouts: Checkouts, receipt: Receipt) -> float:
    """Seconds since its receipt was last written; a clock that went back makes it 0."""
    try:
        return max(0.0, time.time() - os.stat(checkouts.receipt_path(receipt)).st_mtime)
    except OSError:
        return 0.0


def size_words(receipt: Receipt) -> str:
    """How much disk a checkout takes; what it borrows is not counted."""
    total, count = 0, 0
    for folder, _, names in os.walk(receipt.path):
        for name in names:
            count += 1
            if count > MAX_COUNTED:
                return f"more than {total / 1e6:,.1f} MB"
            total += _bytes(Path(folder) / name)
    return f"{total / 1e6:,.1f} MB"


def _bytes(path: Path) -> int:
    try:
        info = path.lstat()
    except OSError:
        return 0
    return info.st_blocks * 512 if stat.S_ISREG(info.st_mode) else 0
