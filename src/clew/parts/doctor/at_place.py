"""The checks of a place: what works here and what is enforced, tested by the question."""

import asyncio
import os
from pathlib import Path

from clew.host.workspace import Workspace
from clew.parts.doctor.checks import examine
from clew.parts.doctor.worktrees import worktree_rows
from clew.protocol.lookups.place import CheckRow, ChecksShown, RunChecks


async def answer(lookup: RunChecks, workspace: Workspace, *, model: str = "") -> ChecksShown:
    """All checks, in a thread: some wait for programs. `model`: the one that a session talks to."""
    return ChecksShown(checks=await asyncio.to_thread(_rows, workspace, model, clean=lookup.clean_worktrees))


def _rows(workspace: Workspace, model: str, *, clean: bool) -> tuple[CheckRow, ...]:
    loaded = workspace.loaded if model else None
    rows = examine(workspace.env, _directory(workspace.cwd), loaded=loaded, model=model)
    return (*rows, *worktree_rows(workspace.env, clean=clean))


def _directory(cwd: Path) -> Path | None:
    """None when it was removed under us."""
    try:
        os.stat(cwd)
    except FileNotFoundError:
        return None
    except OSError:
        pass  # it is there, and not for us to look at
    return cwd
