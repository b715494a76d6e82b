"""The names of a project's files, for completion: what git tracks or does not ignore; read in a thread, kept fresh.

Which paths fit a few letters, best first. Pure, and quick enough to be asked with every key.

Paths are kept short ones first, so that in each rank the first that fit are the best and the rest need not be looked
at. Only letters that are scattered over a path cost a look at all of them, by one search over the names as one text.
"""

import asyncio
import os
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from clew.host.workspace import Workspace
from clew.system.git.command import GitRefused, open_git
from clew.tools.search.in_python import walk

MAX_SCORED = 500
"""Paths with scattered letters that are compared with each other."""
MAX_QUERY_CHARS = 200
_SEPARATOR = "\0"


class PathMatcher:
    """All paths of a project; a directory ends with a slash."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: list[str] = sorted(paths, key=lambda path: (len(path), path))
        self._lower = [path.lower() for path in self.paths]
        self._names = [_name(path) for path in self._lower]
        self._text = _SEPARATOR + "".join(path + _SEPARATOR for path in self._lower)
        self._starts: list[int] = []
        at = 0
        for path in self._lower:
            self._starts.append(at)
            at += len(path) + 1

    def find(self, query: str, limit: int) -> tuple[str, ...]:
        """The name begins with it; holds it; the path begins with it; holds it; has its letters in this order, those
        at the beginning of words first. Shorter paths before longer ones."""
        wanted = query.lower().removeprefix("./")[:MAX_QUERY_CHARS]
        if limit <= 0 or _SEPARATOR in wanted:
            return ()
        if not wanted.strip():
            top = sorted(islice((path for path in self.paths if "/" not in path[:-1]), limit), key=str.lower)
            return tuple(top) or tuple(self.paths[:limit])
        found: dict[int, None] = {}
        for rank in self._ranks(wanted):
            for index in rank:
                found.setdefault(index)
                if len(found) >= limit:
                    return self._of(found)
        for index in self._scattered("".join(wanted.split())):
            found.setdefault(index)
            if len(found) >= limit:
                break
        return self._of(found)

    def _of(self, indexes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.paths[index] for index in indexes)

    def _ranks(self, wanted: str) -> Iterator[Iterator[int]]:
        if wanted not in self._text:
            return
        if "/" not in wanted.rstrip("/"):
            yield (index for index, name in enumerate(self._names) if name.startswith(wanted))
            yield (index for index, name in enumerate(self._names) if wanted in name)
        yield (index for index, path in enumerate(self._lower) if path.startswith(wanted))
        yield (index for index, path in enumerate(self._lower) if wanted in path)

    def _scattered(self, letters: str) -> list[int]:
        """Each letter up to the next one that is wanted: nothing to try twice, so no query can make it slow."""
        if not letters:
            return []
        steps = "".join(f"[^{re.escape(one)}{_SEPARATOR}]*+{re.escape(one)}" for one in letters)
        hits = islice(re.finditer(_SEPARATOR + steps, self._text), MAX_SCORED)
        indexes = [bisect_right(self._starts, hit.start()) - 1 for hit in hits]
        return sorted(indexes, key=lambda index: (-self._score(index, letters), index))

    def _score(self, index: int, letters: str) -> int:
        """How well scattered letters fit: at the beginning of words, next to each other, in the name."""
        path, lower = self.paths[index], self._lower[index]
        name_at = len(lower) - len(self._names[index])
        return max(_points(path, lower, letters, 0, name_at), _points(path, lower, letters, name_at, name_at) + 1)


def _name(path: str) -> str:
    """The last part, a directory's slash included."""
    return path[path.rfind("/", 0, len(path) - 1) + 1 :]


def _points(path: str, lower: str, letters: str, start: int, name_at: int) -> int:
    """Of one way to lay the letters over the path: each at the next beginning of a word that has it, else at the next
    place. Very low when they do not fit from there."""
    points, last = 0, start - 1
    for letter in letters:
        at = _word_start(path, lower, letter, last + 1)
        follows = lower.startswith(letter, last + 1)
        if follows:
            at = last + 1
        elif at < 0:
            at = lower.find(letter, last + 1)
        if at < 0:
            return -1_000
        points += 3 * _begins_word(path, at) + 2 * (follows and last >= start) + (at >= name_at)
        last = at
    return points


def _word_start(path: str, lower: str, letter: str, start: int) -> int:
    at = lower.find(letter, start)
    while at >= 0 and not _begins_word(path, at):
        at = lower.find(letter, at + 1)
    return at


def _begins_word(path: str, at: int) -> bool:
    if at == 0:
        return True
    before, here = path[at - 1], path[at] if at < len(path) else ""
    return not before.isalnum() or (before.islower() and here.isupper())


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
    top = os.path.realpath(root)
    deadline_s = time.monotonic() + LIST_TIMEOUT_S
    for path in walk(top, []):
        yield path[len(top.rstrip("/")) + 1 :]
        if time.monotonic() > deadline_s:
            return
