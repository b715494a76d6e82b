"""After a confined command: what the user's own git would obey of it is taken away, and told.

The keeper, outside the sandbox, looks before the command starts and when all its processes are gone: at repositories
that came into being, at unfinished rebases, and at protected names in the index. Standard library only.
"""

import contextlib
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from clew.system.git.index_entries import IndexEntry, IndexUnclear, hash_bytes, index_entries
from clew.system.git.left_behind import (
    HeldFolder,
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
from clew.system.git.neutral import OVERRIDES, as_flags, git_environment
from clew.system.home import SYSTEM_DIRS
from clew.system.sandbox.plan import SandboxPlan
from clew.system.sandbox.watch import take_away
from clew.text.guarded_names import protected_name

MAX_DIRECTORIES = 100_000
MAX_INDEX = 64_000_000
MAX_TOLD = 50
GIT_TIMEOUT_S = 20


class Judged(NamedTuple):
    """Something that was taken away, where it is kept now, and why."""

    path: str
    kept: str
    why: str


class RepositoryBefore(NamedTuple):
    """A repository as it was before the command."""

    names: bytes
    """The index."""
    stamp: tuple[int, ...]
    todo: dict[str, int]
    commit: str
    """What was checked out; empty when unknown."""


class GitAftermath:
    """One command. Made before it starts; `judge` is called once, when nothing of it runs any more."""

    def __init__(self, plan: SandboxPlan) -> None:
        self._plan = plan
        self._repositories = {path: before for path in plan["pinned"] if (before := remembered(path)) is not None}
        self._marked = None if plan["guarded"] else dict(marked(plan["writable"]))
        """Without a guard nobody tells which directories became repositories: they are looked for twice."""

    def judge(self, told: Iterable[str]) -> list[Judged]:
        """`told`: directories in which the guard saw a name that makes a repository."""
        taken: list[Judged] = []
        with contextlib.suppress(OSError):
            for path, before in self._repositories.items():
                self._judge_known(path, before, taken)
        new = set(told)
        if self._marked is not None:
            now = marked(self._plan["writable"])
            new = {path for path, names in now if self._marked.get(path) != names}
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
            for found in unsafe_states(git, before.todo):
                self._take(found, taken)
            stamp = stamp_of(git)
            if stamp != before.stamp:
                taken += planted_names(git, before)

    def _take(self, found: ObeyedEntry, taken: list[Judged]) -> None:
        kept = take_away(found.folder, found.name, self._plan["aside"], beside=True)
        if kept is not None:
            taken.append(Judged(found.path, kept, found.why))


def remembered(path: str) -> RepositoryBefore | None:
    """A repository before the command; None where there is none."""
    with contextlib.suppress(OSError), opened(path) as git:
        if git is not None:
            return RepositoryBefore(index_bytes(git), stamp_of(git), todo_lines(git), head_commit(git))
    return None


def stamp_of(git: HeldFolder) -> tuple[int, ...]:
    """Changes whenever the index does."""
    try:
        status = os.stat("index", dir_fd=git.descriptor, follow_symlinks=False)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def head_commit(git: HeldFolder) -> str:
    """The commit that is checked out, as the files of the repository say; empty when they do not."""
    text = (git.text("HEAD") or "").strip()
    if not text.startswith("ref:"):
        return text
    name = text.removeprefix("ref:").strip()
    folder, _, last = name.rpartition("/")
    with opened(os.path.normpath(os.path.join(git.path, folder))) as place:
        commit = (place.text(last) or "").strip() if place is not None else ""
    packed = (line.partition(" ") for line in (git.text("packed-refs") or "").splitlines())
    return commit or next((commit for commit, _, ref in packed if ref == name), "")


def index_bytes(git: HeldFolder) -> bytes:
    """The index, as far as it is of a reasonable size."""
    try:
        file = os.open("index", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=git.descriptor)
    except OSError:
        return b""
    with os.fdopen(file, "rb") as data:
        return data.read(MAX_INDEX)


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


def marked(roots: Iterable[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Directories that have names in them which make a repository or steer one, with these names."""
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
            yield path, frozenset(names)


def planted_names(git: HeldFolder, before: RepositoryBefore) -> list[Judged]:
    """Protected names that entered the index with a content that no file has: they are put back as they were."""
    config = git.text("config") or ""
    size = hash_bytes(config.encode(errors="surrogateescape"))
    try:
        old = protected_entries(before.names, size) if before.names else {}
        new = protected_entries(index_bytes(git), size)
    except IndexUnclear:
        return []
    root = os.path.dirname(git.path)
    changed = [entry for path, entry in new.items() if old.get(path) != entry and not is_file(root, entry)]
    committed = committed_entries(git.path, root, before.commit, [entry.path for entry in changed]) if changed else {}
    planted = [entry for entry in changed if committed.get(entry.path) != entry.object]
    if not planted:
        return []
    lines = "".join(restoring_line(entry, old.get(entry.path)) for entry in planted)
    done = run_git(git.path, root, ["update-index", "-z", "--index-info"], lines)
    why = "it was in the index with a content that no file has" if done is not None else "it stays in the index"
    return [Judged(os.path.join(root, entry.path), "", why) for entry in planted]


def protected_entries(index: bytes, hash_size: int) -> dict[str, IndexEntry]:
    """Entries of stage 0 whose names are protected."""
    return {
        entry.path: entry
        for entry in index_entries(index, hash_size=hash_size)
        if entry.stage == 0 and protected_name(entry.path)
    }


def is_file(root: str, entry: IndexEntry) -> bool:
    """Whether the file of the work tree has this content: then somebody was asked when it was written."""
    folder, name = os.path.split(os.path.join(root, entry.path))
    with opened(folder) as place:
        if place is None:
            return False
        if (entry.mode & 0o170000) == 0o120000:
            try:
                data = os.fsencode(os.readlink(name, dir_fd=place.descriptor))
            except OSError:
                return False
            return object_name(data, len(entry.object)) == entry.object
        text = place.text(name)
    if not text:
        return text == "" and object_name(b"", len(entry.object)) == entry.object
    data = text.encode("utf-8", "surrogateescape")
    return entry.object in (object_name(form, len(entry.object)) for form in (data, data.replace(b"\r\n", b"\n")))


def object_name(data: bytes, digits: int) -> str:
    """The name that git gives to a file of this content."""
    import hashlib  # few commands need it, and the process starter is to start fast

    kind = hashlib.sha256 if digits == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def committed_entries(git_dir: str, root: str, commit: str, paths: list[str]) -> dict[str, str]:
    """The objects of these paths in a commit."""
    listed = run_git(git_dir, root, ["ls-tree", "-z", commit, "--", *paths], "") if commit else ""
    records = (line.partition("\t") for line in (listed or "").split("\0"))
    return {path: words.split()[2] for words, _, path in records if path}


def restoring_line(entry: IndexEntry, old: IndexEntry | None) -> str:
    """One record for `git update-index --index-info`."""
    if old is None:
        return f"0 {'0' * len(entry.object)}\t{entry.path}\0"
    return f"{old.mode:o} {old.object}\t{old.path}\0"


def run_git(git_dir: str, root: str, words: list[str], text: str) -> str | None:
    """Call git so that it obeys nothing of the repository; None when it failed or is not there."""
    import subprocess  # as above

    program = next((path for folder in SYSTEM_DIRS if os.access(path := f"{folder}/git", os.X_OK)), "")
    if not program:
        return None
    argv = [program, "--no-pager", "--literal-pathspecs", *as_flags(OVERRIDES), *words]
    env = git_environment() | {"GIT_DIR": git_dir, "GIT_WORK_TREE": root}
    try:
        done = subprocess.run(
            argv, cwd=root, env=env, input=text.encode("utf-8", "surrogateescape"), capture_output=True,
            timeout=GIT_TIMEOUT_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")
