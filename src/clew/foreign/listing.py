"""Looking for sessions: directories that may be missing, unreadable or full of strange names."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from clew.foreign.session import ForeignSession

_NOT_ALNUM = re.compile(r"[^0-9A-Za-z]+")
_MAX_FOLDERS_TRIED = 64


def modified(path: Path) -> float:
    """When a file was last written; 0 when it cannot be told."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def entries_in(folder: Path) -> list[Path]:
    """What lies in a folder, by name; nothing when it cannot be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def below(folder: Path, *, depth: int) -> Iterator[Path]:
    """The files at most `depth` folders down. Links to folders are not followed, so there are no loops."""
    try:
        listing = sorted(os.scandir(folder), key=lambda item: item.name)
    except OSError:
        return
    for item in listing:
        try:
            is_folder = item.is_dir(follow_symlinks=False)
        except OSError:
            continue
        if not is_folder:
            yield Path(item.path)
        elif depth > 0:
            yield from below(Path(item.path), depth=depth - 1)


def folder_of_slug(slug: str, root: Path = Path("/")) -> str:
    """The directory that was written with a dash for every character but letters and digits; empty when none fits.

    Several can have one slug; only those that exist are thought of, the first in order of their names wins."""
    waiting = [(root, slug.strip("-"))]
    for _ in range(_MAX_FOLDERS_TRIED):
        if not waiting:
            break
        folder, rest = waiting.pop()
        if not rest:
            return str(folder)
        for item in reversed(entries_in(folder)):
            name = _NOT_ALNUM.sub("-", item.name).strip("-")
            if name and (rest == name or rest.startswith(name + "-")) and item.is_dir():
                waiting.append((item, rest[len(name) :].lstrip("-")))
    return ""


def found(
    agent: str,
    path: Path,
    session_id: str,
    *,
    cwd: str = "",
    is_subagent: bool = False,
    title: str = "",
    parent_session: str = "",
    mtime: float | None = None,
) -> Iterator[ForeignSession]:
    """The session at this path, if a plain file lies there."""
    try:
        status = path.stat()
    except OSError:
        return
    if stat.S_ISREG(status.st_mode):
        yield ForeignSession(
            agent=agent,
            path=path,
            session_id=session_id,
            cwd=cwd,
            mtime=status.st_mtime if mtime is None else mtime,
            size=status.st_size,
            is_subagent=is_subagent,
            title=title,
            parent_session=parent_session,
        )
