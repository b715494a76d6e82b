"""Protected names and credential files of a workspace, found once and then kept current by directory times."""

import os
import time
from collections import deque
from typing import NamedTuple

from clew.text.guarded_names import (
    GIT_REDIRECTORS,
    PROTECTED_PAIRS,
    SNIFF_BYTES,
    folded,
    is_public,
    protected_name,
    secret_name,
)

MAX_DIRECTORIES = 30_000
SETTLED_NS = 100_000_000
"""A directory that changed this shortly before it was read may have changed again unseen: it is read once more."""
# What package managers and compilers put here is not the user's; certificates in it are needed by programs.
NOT_SEARCHED = frozenset(
    {
        "node_modules", "site-packages", ".venv", "venv", ".tox", ".nox", "__pycache__", "target", "vendor",
        ".mypy_cache", ".ruff_cache", ".pytest_cache", ".gradle", ".terraform", "bower_components", ".pnpm-store",
    }
)  # fmt: skip
PACKAGES_EVERY_S = 30
BARE = frozenset({"HEAD", "objects", "refs"})
PAIR_PARENTS = frozenset(parent for parent, _ in PROTECTED_PAIRS)


class SeenDirectory(NamedTuple):
    """One directory as it was read. Names only; everything else depends on where it lies."""

    changed_ns: int
    read_ns: int
    directories: tuple[str, ...]
    protected: tuple[str, ...]
    secret: tuple[str, ...]
    unsearched: tuple[str, ...] = ()
    """Directories of packages and compilers, in which only repositories are looked for."""
    bare: bool = False
    """Git would take the directory itself for a repository."""


class TreePaths(NamedTuple):
    """All paths are below one root."""

    protected: list[str]
    repositories: list[str]
    """Git directories, the root's own first when it has one."""
    bare: list[str]
    """Directories that git would take for a repository themselves; files of the project may lie in them too."""
    named: list[str]
    """Everything whose name promises a secret; a search leaves these out."""
    secret: list[str]
    """Those whose content does not plainly say otherwise; commands cannot read them."""
    complete: bool
    """False: the tree has more directories than are searched."""


class WorkspaceTree:
    """One workspace root. Links are not followed: what they lead to has its own place, or lies outside."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._seen: dict[str, SeenDirectory] = {}
        self._secrets: dict[tuple[int, int], str] = {}
        """Where each secret was last, by device and inode: a command may move the directory around it."""
        self._packages = PackageTree()

    def look(self) -> TreePaths:
        """What is there now. Directories that did not change since are not read again."""
        found = self._search()
        places = {identity: path for path in found.secret if (identity := identity_of(path))}
        lost = {identity: path for identity, path in self._secrets.items() if identity not in places}
        for identity, path in list(lost.items()):
            if identity_of(path) == identity:  # the search ended before it came there
                places[identity] = lost.pop(identity)
        if lost:
            places |= find_again(self.root, lost)
        found.secret[:] = places.values()
        self._secrets = places
        return found

    def _search(self) -> TreePaths:
        """Near the top first: where a tree is too large, what lies deep is left out."""
        found = TreePaths([], [], [], [], [], True)
        known, self._seen = self._seen, {}
        todo = deque([self.root])
        packages: list[str] = []
        while todo:
            if len(self._seen) >= MAX_DIRECTORIES:
                return found._replace(complete=False)
            path = todo.popleft()
            seen = current(path, known.get(path))
            if seen is None:
                continue
            self._seen[path] = seen
            if seen.bare and path != self.root:
                found.bare.append(path)
            for name in seen.protected:
                place = os.path.join(path, name)
                if name == ".git" and is_directory(place):
                    found.repositories.append(place)
                else:
                    found.protected.append(place)
                    if name == ".git" and (target := pointed_to(place, self.root)):
                        found.repositories.append(target)
            packages += [os.path.join(path, name) for name in seen.unsearched]
            for name in seen.secret:
                place = os.path.join(path, name)
                found.named.append(place)
                if not shows_no_secret(place, name):
                    found.secret.append(place)
            todo += [os.path.join(path, name) for name in seen.directories]
        for place in self._packages.look(packages):
            if os.path.basename(place) != ".git":
                found.bare.append(place)
            else:
                (found.repositories if is_directory(place) else found.protected).append(place)
        return found


class PackageTree:
    """Repositories in directories of packages and compilers, which are many and seldom change: looked for at most every
    half minute."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {}
        """For each directory: when it changed last, the directories in it, and the repositories it is or holds."""
        self._looked_s = float("-inf")
        self._tops: list[str] = []
        self._found: list[str] = []

    def look(self, tops: list[str]) -> list[str]:
        """Git directories, and files that lead to one, below these directories."""
        if tops != self._tops or time.monotonic() - self._looked_s > PACKAGES_EVERY_S:
            self._tops, self._looked_s, self._found = tops, time.monotonic(), self._search(tops)
        return self._found

    def _search(self, tops: list[str]) -> list[str]:
        known, self._seen = self._seen, {}
        found: list[str] = []
        todo = list(tops)
        while todo and len(self._seen) < MAX_DIRECTORIES:
            path = todo.pop()
            try:
                changed_ns = os.stat(path, follow_symlinks=False).st_ctime_ns
                seen = known.get(path)
                if seen is None or seen[0] != changed_ns:
                    seen = (changed_ns, *repositories_in(path))
            except OSError:
                continue
            self._seen[path] = seen
            found += seen[2]
            todo += [f"{path}/{name}" for name in seen[1]]
        return found


def repositories_in(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The directories in a directory, and the repositories that it is or holds."""
    with os.scandir(path) as entries:
        kinds = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    found = ((f"{path}/.git",) if ".git" in kinds else ()) + ((path,) if kinds.keys() >= BARE else ())
    return tuple(name for name, is_dir in kinds.items() if is_dir and name != ".git"), found


def pointed_to(file: str, root: str) -> str:
    """The git directory inside the root that a `.git` file leads to, or an empty string."""
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as text:
            words = text.read(4096)
    except OSError:
        return ""
    target = os.path.realpath(os.path.join(os.path.dirname(file), words.removeprefix("gitdir:").strip()))
    inside = words.startswith("gitdir:") and target.startswith(root.rstrip("/") + "/")
    return target if inside and "/.git/" not in f"{target}/" and os.path.isdir(target) else ""


def identity_of(path: str) -> tuple[int, int] | None:
    """Device and inode; None when it is gone."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def find_again(root: str, lost: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """Secrets that left their place, also where they are not searched for: moved there, they must stay out of sight."""
    wanted = {os.path.basename(path) for path in lost.values()}
    places: dict[tuple[int, int], str] = {}
    for folder, directories, files in os.walk(root):
        for name in wanted.intersection((*directories, *files)):
            path = os.path.join(folder, name)
            identity = identity_of(path)
            if identity in lost:
                places[identity] = path
        if len(places) == len(lost):
            break
    return places


def current(path: str, known: SeenDirectory | None) -> SeenDirectory | None:
    """A directory as it is now; None when it cannot be read, which a command of the same user cannot do either."""
    try:
        changed_ns = os.stat(path, follow_symlinks=False).st_ctime_ns  # the one time that no command can set back
        if known is not None and known.changed_ns == changed_ns and known.read_ns - changed_ns > SETTLED_NS:
            return known
        return read(path, changed_ns)
    except OSError:
        return None


def read(path: str, changed_ns: int) -> SeenDirectory:
    """Sort the entries of a directory."""
    directories: list[str] = []
    protected: list[str] = []
    secret: list[str] = []
    unsearched: list[str] = []
    names: set[str] = set()
    above = os.path.basename(path)
    read_ns = time.time_ns()
    with os.scandir(path) as entries:
        for entry in entries:
            name = entry.name
            if name in BARE:
                names.add(name)
            # Plain lower-case words without a dot in front are the many; none of them opens a pair here.
            guarded = protected_name(f"{above}/{name}" if above in PAIR_PARENTS else name)
            if guarded:
                protected.append(name)
            if secret_name(name):
                secret.append(name)
            elif name != ".git" and entry.is_dir(follow_symlinks=False):
                (unsearched if name in NOT_SEARCHED else directories).append(name)
    found = (tuple(those) for those in (directories, protected, secret, unsearched))
    return SeenDirectory(changed_ns, read_ns, *found, bare=len(names) == len(BARE))


def shows_no_secret(path: str, name: str) -> bool:
    """Certificates and settings files whose content is plainly public."""
    if not folded(name).endswith((".pem", ".asc", ".npmrc", ".yarnrc.yml")):
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return is_public(name, os.read(descriptor, SNIFF_BYTES))
    except OSError:
        return False
    finally:
        os.close(descriptor)


def is_directory(path: str) -> bool:
    """A directory itself, not a link to one."""
    return os.path.isdir(path) and not os.path.islink(path)


def redirectors(repository: str) -> list[str]:
    """Those of its names that exist and send git elsewhere."""
    return [path for name in GIT_REDIRECTORS if os.path.lexists(path := os.path.join(repository, name))]
