"""Markdown files in folders of the user and of a project: found within bounds, read again only when they changed."""

import os
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from clew.skills.definitions import SkillProblem

MAX_ENTRIES = 5_000
MAX_DEPTH = 4
T = TypeVar("T")


class FolderWalk:
    """The files of one folder with the names they have by where they lie, in the order of names."""

    def __init__(self, path: str, *, within: str = "", max_files: int, folder_file: str = "") -> None:
        """`within`: the directory that no link may lead out of. `folder_file`: a folder that holds such a file is one
        thing, and that file is it; empty: every Markdown file is one."""
        self._path = path
        self._within = within
        self._max_files = max_files
        self._folder_file = folder_file
        self._left = MAX_ENTRIES
        self._files = 0
        self.problems: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, str]]:
        if self._leads_out(self._path):
            return
        yield from self._inside(self._path, (), 0)
        if self._left <= 0 or self._files > self._max_files:
            self.problems.append(f"{self._path}: holds too many files; only the first {self._max_files} are used")

    def _inside(self, path: str, names: tuple[str, ...], depth: int) -> Iterator[tuple[str, str]]:
        for entry in self._entries(path):
            if self._files > self._max_files:
                return
            if self._is_folder(entry):
                yield from self._folder_inside(entry, (*names, entry.name), depth)
            elif not self._folder_file and entry.name.endswith(".md") and not entry.name.startswith("."):
                self._files += 1
                if self._files <= self._max_files:
                    yield entry.path, ":".join((*names, entry.name.removesuffix(".md")))

    def _folder_inside(
        self, entry: "os.DirEntry[str]", names: tuple[str, ...], depth: int
    ) -> Iterator[tuple[str, str]]:
        file = os.path.join(entry.path, self._folder_file)
        if self._folder_file and os.path.lexists(file):
            self._files += 1
            if self._files <= self._max_files:
                yield file, ":".join(names)
        elif depth < MAX_DEPTH:
            yield from self._inside(entry.path, names, depth + 1)

    def _is_folder(self, entry: "os.DirEntry[str]") -> bool:
        """A link of a project that leads out of it is told of where it would be used, and not entered."""
        try:
            if not entry.is_dir() or entry.name.startswith("."):
                return False
        except OSError:
            return False
        return not (entry.is_symlink() and self._leads_out(entry.path))

    def _leads_out(self, path: str) -> bool:
        """Links of the user are the user's; those of a project stay inside it."""
        if not self._within:
            return False
        real, within = os.path.realpath(path), os.path.realpath(self._within)
        if real == within or real.startswith(within.rstrip("/") + "/"):
            return False
        self.problems.append(f"{path}: leads outside the project through a link")
        return True

    def _entries(self, path: str) -> list["os.DirEntry[str]"]:
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left <= 0:
                        break
                    found.append(entry)
        except OSError as error:
            self.problems.append(f"{path}: cannot be read ({(error.strerror or 'error').lower()})")
        return sorted(found, key=lambda entry: entry.name)


class FilesRead(Generic[T]):
    """Remembers what files said, by their state on disk."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[tuple[int, ...], T | None, str]] = {}

    def read(self, path: str, key: Hashable, read: Callable[[], T]) -> tuple[T | None, str]:
        """What the file says, or the problem with it. `key`: who asks; `read` raises SkillProblem."""
        stamp = _stamp(path)
        known = self._seen.get((path, key))
        if known is None or known[0] != stamp or not any(stamp):
            try:
                known = (stamp, read(), "")
            except SkillProblem as problem:
                known = (stamp, None, str(problem))
            self._seen[path, key] = known
        return known[1], known[2]


def _stamp(path: str) -> tuple[int, ...]:
    try:
        info = os.stat(path)
    except OSError:
        return (0, 0, 0, 0)
    return (info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
