"""Looking through folders for skills and commands: bounded in number and depth, and what did not change is not read
again."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from clew.config.skill_places import Folder
from clew.skills.definitions import SkillDefinition, SkillProblem, read_definition

MAX_FILES = 500
"""In one folder; more are told of and not read."""
MAX_ENTRIES = 5_000
MAX_DEPTH = 4
SKILL_FILE = "SKILL.md"
BUNDLED_FOLDER = Folder(path=str(Path(__file__).with_name("bundled")), kind="skill", level="bundled", source="clew")
"""What comes with clew."""
_Stamp = tuple[int, int, int, int]


class FoundSkills(Struct, frozen=True, kw_only=True):
    """What there is, those that win first."""

    definitions: tuple[SkillDefinition, ...] = ()
    problems: tuple[str, ...] = ()


class _Seen(NamedTuple):
    stamp: _Stamp
    definition: SkillDefinition | None
    problem: str


class Finder:
    """Remembers what files said, by their state on disk."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Folder], _Seen] = {}

    def look(self, folders: tuple[Folder, ...]) -> FoundSkills:
        """All of these folders, now."""
        definitions: list[SkillDefinition] = []
        problems: list[str] = []
        seen: dict[tuple[str, Folder], _Seen] = {}
        for folder in folders:
            files = _Walk(folder)
            for path, name in files:
                known = seen[path, folder] = self._read(path, name, folder)
                if known.definition is not None:
                    definitions.append(known.definition)
                else:
                    problems.append(known.problem)
            problems += files.problems
        self._seen = seen
        return FoundSkills(definitions=tuple(definitions), problems=tuple(problems))

    def _read(self, path: str, name: str, folder: Folder) -> _Seen:
        stamp = _stamp(path)
        known = self._seen.get((path, folder))
        if known is not None and known.stamp == stamp and any(stamp):
            return known
        try:
            return _Seen(stamp, read_definition(path, name, folder), "")
        except SkillProblem as problem:
            return _Seen(stamp, None, str(problem))


class _Walk:
    """The files of one folder with the names they have by where they lie, in the order of names."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._left = MAX_ENTRIES
        self._files = 0
        self.problems: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, str]]:
        if self._leads_out(self._folder.path):
            return
        yield from self._inside(self._folder.path, (), 0)
        if self._left <= 0 or self._files > MAX_FILES:
            self.problems.append(f"{self._folder.path}: holds too many files; only the first {MAX_FILES} are used")

    def _inside(self, path: str, names: tuple[str, ...], depth: int) -> Iterator[tuple[str, str]]:
        for entry in self._entries(path):
            if self._files > MAX_FILES:
                return
            if self._is_folder(entry):
                yield from self._folder_inside(entry, (*names, entry.name), depth)
            elif self._folder.kind == "command" and entry.name.endswith(".md"):
                self._files += 1
                if self._files <= MAX_FILES:
                    yield entry.path, ":".join((*names, entry.name.removesuffix(".md")))

    def _folder_inside(
        self, entry: "os.DirEntry[str]", names: tuple[str, ...], depth: int
    ) -> Iterator[tuple[str, str]]:
        skill = os.path.join(entry.path, SKILL_FILE)
        if self._folder.kind == "skill" and os.path.lexists(skill):
            self._files += 1
            if self._files <= MAX_FILES:
                yield skill, ":".join(names)
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
        if not self._folder.within:
            return False
        real, within = os.path.realpath(path), os.path.realpath(self._folder.within)
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


def _stamp(path: str) -> _Stamp:
    try:
        info = os.stat(path)
    except OSError:
        return (0, 0, 0, 0)
    return (info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
