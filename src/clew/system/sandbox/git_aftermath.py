"""After a confined command: what the user's own git would obey of it is taken away, and told.

The keeper, outside the sandbox, looks before the command starts and when all its processes are gone: at repositories
that came into being, at unfinished rebases, and at protected names in the index. Standard library only.
"""

import contextlib
import os
import stat
import time
from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from clew.system.git.left_behind import (
    HeldFolder,
    Judged,
    ObeyedEntry,
    configured_drivers,
    is_git_directory,
    obeyed,
    opened,
    pointer,
    repository_marks,
    todo_lines,
    unsafe_attributes,
    unsafe_states,
)
from clew.system.git.new_commits import NewCommits
from clew.system.git.object_files import ObjectFiles
from clew.system.git.planted_index import IndexBefore, entries_before, planted_names, remembered_index
from clew.system.git.refs import Refs, RefsUnclear, links_in, refs_of
from clew.system.git.waiting_states import WaitingStates, bringing_states, waiting_states
from clew.system.sandbox.plan import SandboxPlan
from clew.system.sandbox.watch import take_away

MAX_DIRECTORIES = 100_000
MAX_TOLD = 50


class RepositoryBefore(NamedTuple):
    """A repository as it was before the command."""

    names: IndexBefore
    """The index."""
    todo: dict[str, int]
    states: WaitingStates
    refs: Refs | None
    """None: they are unclear, and so is what a command does to them."""


class GitAftermath:
    """One command. Made before it starts; `judge` is called once, when nothing of it runs any more."""

    def __init__(self, plan: SandboxPlan) -> None:
        self._plan = plan
        self._began_ns = time.time_ns()
        self.unclear: list[Judged] = []
        """What could not be judged, and why; filled by `judge`."""
        self._repositories = {path: before for path in plan["pinned"] if (before := remembered(path)) is not None}
        self._marked = None if plan["guarded"] else marked(plan["writable"])[0]
        """Without a guard nobody tells which directories became repositories: they are looked for twice."""

    def judge(self, told: Iterable[str]) -> list[Judged]:
        """`told`: directories in which the guard saw a name that makes a repository."""
        taken: list[Judged] = []
        for path, before in self._repositories.items():
            try:
                self._judge_known(path, before, taken)
            except OSError as problem:
                self.unclear.append(Judged(path, "", f"it could not be looked at: {problem.strerror}"))
        new = set(told)
        if self._marked is not None:
            now, complete = marked(self._plan["writable"])
            new = {path for path, names in now.items() if self._marked.get(path) != names}
            if not complete:
                why = f"it has more than {MAX_DIRECTORIES} directories; new repositories further down were not judged"
                self.unclear.append(Judged(self._plan["writable"][0], "", why))
        drivers: set[tuple[str, str]] | None = None
        for path in sorted(new):
            if not self._is_ours(path):
                continue
            with contextlib.suppress(OSError), opened(path) as folder:
                if folder is None:
                    continue
                if drivers is None:
                    drivers = configured_drivers(self._plan["git_configs"])
                for found in self._obeyed_in(folder, drivers):  # each holds its directory open
                    self._take(found, taken)
        return taken[:MAX_TOLD]

    def _is_ours(self, path: str) -> bool:
        """In a place that the command could write; its own temporary directory is nobody's workspace."""
        inside = any(path == root or path.startswith(f"{root}/") for root in self._plan["writable"])
        known = any(f"{path}/".startswith(f"{place}/") for place in self._plan["pinned"] if place.endswith("/.git"))
        # Git itself makes no repository inside its own directory; one that is there is somebody else's.
        return inside and (not known or os.path.lexists(os.path.join(path, ".git")))

    def _obeyed_in(self, folder: HeldFolder, drivers: set[tuple[str, str]]) -> Iterator[ObeyedEntry]:
        """In a directory that may have become a repository, or the place of one."""
        with folder.inner(".git") as git:
            if git is not None:
                yield from obeyed(git)
            elif folder.mode(".git") and (why := pointer(folder, self._known_repositories(folder))):
                yield folder.found(".git", why)
        if folder.path not in self._plan["pinned"] and is_git_directory(folder):
            yield from obeyed(folder, submodule="/.git/modules/" in f"{folder.path}/")
        if why := unsafe_attributes(folder, drivers):
            yield folder.found(".gitattributes", why)

    def _known_repositories(self, folder: HeldFolder) -> list[str]:
        """Git directories whose modules are judged: the known ones, and those above this directory."""
        found = list(self._plan["pinned"])
        path = os.path.dirname(folder.path)
        while self._is_ours(path):
            found.append(os.path.join(path, ".git"))
            path = os.path.dirname(path)
        return found

    def _judge_known(self, path: str, before: RepositoryBefore, taken: list[Judged]) -> None:
        with opened(path) as git:
            if git is None:
                return
            known = before.refs.links if before.refs is not None else frozenset[str]()
            linked = [found for found in self._links_of(git, known) if self._take(found, taken)]
            for found in unsafe_states(git, before.todo):
                self._take(found, taken)
            for found in ObjectFiles(git, self._began_ns).wrong(self.unclear):
                self._take(found, taken)
            commit = before.refs.commit() if before.refs is not None else ""
            taken += planted_names(git, before.names, commit, self.unclear)
            if before.refs is None:
                self.unclear.append(
                    Judged(os.path.join(path, "refs"), "", "its refs could not be read before the command")
                )
                return
            commits = NewCommits(git, before.refs, entries_before(git, before.names))
            if linked:
                commits.put_back()
            for found in bringing_states(git, before.states, commits):
                self._take(found, taken)
            moved, unclear = commits.moved(network=self._plan["network"])
            taken += moved
            self.unclear += unclear

    def _links_of(self, git: HeldFolder, known: frozenset[str]) -> Iterator[ObeyedEntry]:
        for path, folder, name in links_in(git):
            if path not in known:
                yield folder.found(name, "it leads elsewhere, where other commands could change it")

    def _take(self, found: ObeyedEntry, taken: list[Judged]) -> bool:
        kept = take_away(found.folder, found.name, self._plan["aside"], beside=True)
        if kept is not None:
            taken.append(Judged(found.path, kept, found.why))
        return kept is not None


def remembered(path: str) -> RepositoryBefore | None:
    """A repository before the command; None where there is none."""
    with contextlib.suppress(OSError), opened(path) as git:
        if git is not None:
            try:
                refs = refs_of(git)
            except RefsUnclear:
                refs = None
            return RepositoryBefore(remembered_index(git), todo_lines(git), waiting_states(git), refs)
    return None


@contextlib.contextmanager
def listable(path: str) -> Generator[None]:
    """A directory whose owner took the right to list it from himself gets it for as long as it is looked at."""
    status = os.lstat(path)
    lacks = status.st_uid == os.geteuid() and status.st_mode & 0o500 != 0o500
    if lacks and stat.S_ISDIR(status.st_mode):
        os.chmod(path, stat.S_IMODE(status.st_mode) | 0o500)
    try:
        yield
    finally:
        if lacks and stat.S_ISDIR(status.st_mode):
            os.chmod(path, stat.S_IMODE(status.st_mode))


def marked(roots: Iterable[str]) -> tuple[dict[str, frozenset[str]], bool]:
    """Directories that have names in them which make a repository or steer one, with these names; and whether all
    directories were looked at."""
    found: dict[str, frozenset[str]] = {}
    seen = 0
    todo = list(roots)
    while todo and seen < MAX_DIRECTORIES:
        path = todo.pop()
        seen += 1
        try:
            with listable(path), os.scandir(path) as entries:
                names: set[str] = set()
                for entry in entries:
                    if repository_marks(entry.name):
                        names.add(entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError:
            continue
        if names:
            found[path] = frozenset(names)
    return found, not todo
