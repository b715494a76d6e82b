"""The checks of a place: what works here and what is enforced, tested by the question."""

import asyncio
import os
from pathlib import Path

from clew.host.workspace import Workspace
from clew.parts.doctor.checks import examine
from clew.protocol.lookups.place import CheckRow, ChecksShown, RunChecks


async def answer(lookup: RunChecks, workspace: Workspace) -> ChecksShown:
    """All checks, in a thread: some wait for programs."""
    return ChecksShown(checks=await asyncio.to_thread(_rows, workspace))


def _rows(workspace: Workspace) -> tuple[CheckRow, ...]:
    return tuple(examine(workspace.env, _directory(workspace.cwd)))


def _directory(cwd: Path) -> Path | None:
    """None when it was removed under us."""
    try:
        os.stat(cwd)
    except FileNotFoundError:
        return None
    except OSError:
        pass  # it is there, and not for us to look at
    return cwd
