"""The names of a project's files, for completion: what git tracks or does not ignore; read in a thread, kept fresh."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from clew.host.workspace import Workspace
from clew.parts.files.path_match import PathMatcher
from clew.system.git_command import GitRefused, open_git

MAX_FILES = 200_000
MAX_LIST_BYTES = 64_000_000
LIST_TIMEOUT_S = 10.0
STALE_S = 2.0
"""After so long the names are read again with the next question."""
PATIENCE_S = 0.1
"""How long a question waits for fresh names when older ones are there."""


class FileIndex:
    """One per session. The first question waits for the names; later ones are answered from memory."""

    def __init__(self, read: Callable[[], Iterable[str]], *, clock: Callable[[], float] = time.monotonic) -> None:
        """`read` blocks; it gives paths relative to the root."""
        self._read = read
        self._clock = clock
        self._matcher: PathMatcher | None = None
        self._read_at_s = 0.0
        self._reading: asyncio.Task[None] | None = None
        self._closed = False

    async def find(self, query: str, limit: int) -> tuple[str, ...]:
        """The paths that fit, best first."""
        stale = self._matcher is None or self._clock() - self._read_at_s > STALE_S
        if stale and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._refresh())
        if self._reading is not None and not self._reading.done():
            await asyncio.wait({self._reading}, timeout=None if self._matcher is None else PATIENCE_S)
        return self._matcher.find(query, limit) if self._matcher is not None else ()

    async def close(self) -> None:
        """Nobody asks any more; a thread that still reads ends with its next name."""
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _refresh(self) -> None:
        asked_s = self._clock()
        self._matcher = await asyncio.to_thread(lambda: PathMatcher(with_directories(self._names())))
        self._read_at_s = asked_s

    def _names(self) -> Iterator[str]:
        for path in self._read():
            if self._closed:
                return
            yield path


def project_files(workspace: Workspace) -> Iterator[str]:
    """As git lists them in a trusted repository, else by a walk that keeps to .gitignore. Blocks."""
    listed = _from_git(workspace)
    found = listed if listed is not None else _walked(workspace.root)
    for number, path in enumerate(found):
        if number >= MAX_FILES:
            return
        yield path


def with_directories(paths: Iterable[str]) -> set[str]:
    """The paths, and every directory above them with a slash at its end. Names that are no text are left out."""
    found: set[str] = set()
    for path in paths:
        if not path or "\ufffd" in path or not _is_text(path):
            continue
        found.add(path)
        end = path.rfind("/", 0, len(path) - 1)
        while end > 0 and (folder := path[: end + 1]) not in found:
            found.add(folder)
            end = path.rfind("/", 0, end)
    return found


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_git(workspace: Workspace) -> list[str] | None:
    if workspace.repository is None:
        return None
    try:
        git = open_git(workspace.repository, trusted=workspace.trusted, env=workspace.env)
        if git is None:
            return None
        wanted = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        listed = git.run(wanted, timeout_s=LIST_TIMEOUT_S, max_bytes=MAX_LIST_BYTES)
    except (GitRefused, OSError):
        return None
    return [path for path in listed.out.split("\0") if path] if listed.ok else None


def _walked(root: Path) -> Iterator[str]:
    from clew.tools.search.in_python import walk  # pathspec is loaded only where git does not answer

    top = os.path.realpath(root)
    deadline_s = time.monotonic() + LIST_TIMEOUT_S
    for path in walk(top, []):
        yield path[len(top.rstrip("/")) + 1 :]
        if time.monotonic() > deadline_s:
            return
