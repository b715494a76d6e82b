"""Builds, linters and type checks."""

import re
from collections import deque
from typing import Literal

from clew.ledger.commands import tells_its_end
from clew.ledger.facts import CheckResult, CommandFact

KEPT = 20
_ERRORS = re.compile(r"(?:Found )?(\d+) (?:errors?|problems?|issues?)\b", re.IGNORECASE)
_CLEAN = re.compile(
    r"All checks passed|no issues found|(?<!\d)0 (?:errors?|issues|problems)\b|Success: no issues|BUILD SUCCESS|"
    r"Build succeeded|built in [\d.]+|"
    r"compiled successfully|Compiled successfully|Finished `?(?:dev|release|test)|✓ built|"
    r"webpack .* compiled successfully",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"BUILD FAIL|Build failed|error TS\d+|error\[E\d+\]|: error:|Failed to compile|ERROR in |compilation failed",
    re.IGNORECASE,
)


class ChecksFold:
    """The latest builds and lints."""

    def __init__(self) -> None:
        self._checks: deque[CheckResult] = deque(maxlen=KEPT)

    def settle(self, kind: Literal["build", "lint"], command: CommandFact, output: str, order: int) -> None:
        """Take the result of a command that builds or checks."""
        if command.background:
            return
        tail = output[-3000:]
        clean = max((mark.end() for mark in _CLEAN.finditer(tail)), default=0)  # what is said last counts
        found = next(iter([*_ERRORS.finditer(tail, clean)][-1:]), None)
        count = int(found.group(1)) if found else None
        told = tells_its_end(command.command, kind)
        ok: bool | None
        if count or _BROKEN.search(tail, clean) or (command.failed and told):
            ok = False
        elif count == 0 or clean or (told and command.exit_code == 0):
            ok = True
        else:
            ok = None
        detail = found.group(0) if found and count else ""
        self._checks.append(
            CheckResult(kind=kind, command=command.command, ok=ok, detail=detail, order=order, source=command.source)
        )

    def facts(self) -> tuple[CheckResult, ...]:
        """The most recent checks, oldest first."""
        return tuple(self._checks)
