"""The check of the checkouts that isolated agents left, and their removal on request."""

from collections.abc import Iterator, Mapping

from clew.agents.checkouts import Checkouts, Receipt, line_of
from clew.parts.doctor.checks import guarded
from clew.protocol.lookups.place import CheckRow
from clew.system.home import clew_home

HOW = "`clew doctor --clean-worktrees` saves what they hold in their repositories, below refs/clew/, and removes them"


def worktree_rows(env: Mapping[str, str], *, clean: bool) -> Iterator[CheckRow]:
    """One row, where there are any. `clean`: those that nobody works in are saved and removed first."""
    checkouts = Checkouts(clew_home(env), search_path=env.get("PATH", ""))
    if left := checkouts.all():
        yield guarded("worktrees", lambda: check_worktrees(checkouts, left, clean=clean))


def check_worktrees(checkouts: Checkouts, left: list[Receipt], *, clean: bool) -> CheckRow:
    """What agents left, or what became of it."""
    used = sum(receipt.in_use for receipt in left)
    if clean:
        done = tuple(checkouts.clean(receipt) for receipt in left)
        rest = len(checkouts.all())
        summary = f"{len(left) - rest} removed, {rest} stay"
        return CheckRow(name="worktrees", state="info", summary=summary, details=done, data={"left": rest})
    summary = f"{len(left) - used} left by agents, {used} in use"
    details = (*(line_of(receipt) for receipt in left), *((HOW,) if len(left) > used else ()))
    data = {"left": len(left) - used, "in_use": used, "paths": [receipt.path for receipt in left]}
    return CheckRow(name="worktrees", state="info", summary=summary, details=details, data=data)
