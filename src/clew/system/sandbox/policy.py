"""The sandbox of one session: its status, its temporary directory, and the plan for each command.

Places outside a git directory that its configuration takes code or further configuration from.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clew.system.git.config import ConfigError, parse_config
from clew.system.home import own_installation
from clew.system.sandbox.hidden import hidden_places, names_in, outermost, overlap, showing, sockets_of_others
from clew.system.sandbox.kept import REPLACED, kept_places
from clew.system.sandbox.plan import Guarded, SandboxPlan, has_mounts
from clew.system.sandbox.tree import WorkspaceTree, redirectors
from clew.text.guarded_names import PROTECTED_PAIRS
from clew.text.lazy_pattern import LazyPattern
from clew.text.redact import redact

MAX_FILES = 20
MAX_BYTES = 1_000_000


def named_by_config(repository: str, home: str) -> list[str]:
    """Included files and the directory of hooks, there or not, as absolute paths without links. Read from the
    repository's configuration and from the user's own, which may say where hooks lie in every repository."""
    found: list[str] = []
    todo = [os.path.join(repository, "config"), f"{home}/.gitconfig", f"{home}/.config/git/config"]
    top = os.path.dirname(repository)
    seen: set[str] = set()
    while todo and len(seen) < MAX_FILES:
        file = todo.pop(0)
        if file in seen:
            continue
        seen.add(file)
        try:
            settings = parse_config(read(file))
        except ConfigError:
            continue  # git itself stops at such a file
        for setting in settings:
            value = setting.value or ""
            if not value:
                continue
            if setting.key == "path" and setting.section in ("include", "includeif"):
                place = absolute(value, os.path.dirname(file), home)
                todo.append(place)
                found.append(place)
            elif (setting.section, setting.key) == ("core", "hookspath"):
                found.append(absolute(value, top, home))
    return list(dict.fromkeys(found))


def absolute(value: str, base: str, home: str) -> str:
    """As git reads a path of its configuration."""
    if value.startswith("~/"):
        value = os.path.join(home, value[2:])
    return os.path.realpath(os.path.join(base, value))


def read(path: str) -> str:
    """A small file; empty when there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_BYTES).decode(errors="surrogateescape")
    except OSError:
        return ""


if TYPE_CHECKING:
    from clew.system.sandbox.status import SandboxStatus


class Sandbox:
    """Holds shell commands. Roots come from the user; nothing here takes a word from a model.

    `find_status` is asked once, when the first command comes: a session without commands pays nothing.
    """

    def __init__(
        self,
        find_status: "Callable[[], SandboxStatus]",
        *,
        network: bool = False,
        required: bool = False,
        writable: Sequence[str] = (),
        hidden: Sequence[str] = (),
        home: str = "",
        aside: str = "",
        search_path: str = "",
        allowed: Callable[[str], bool] | None = None,
        max_memory: int = 0,
        max_processes: int = 0,
        read_only: Sequence[str] = (),
    ) -> None:
        """`max_memory` (bytes of each process) and `max_processes` are the kernel's limits for a command.
        `allowed`: whether the user lets commands read this credential file of the workspace (its resolved path).
        `search_path`: where the user's programs lie; commands find those below /tmp too.
        `aside`: where names go that commands may not make; without it, to a place that ends with the session.
        `read_only`: places that a command sees as it would in a workspace, without their secrets, and cannot change."""
        self.network = network
        self.required = required
        """No command may run without it, not even with the user's consent."""
        self._find_status = find_status
        self._status: SandboxStatus | None = None
        self._writable = tuple(os.path.realpath(path) for path in writable)
        self._home = os.path.realpath(home or os.path.expanduser("~"))
        self._hidden = tuple(hidden)
        self._read_only = outermost({os.path.realpath(path) for path in read_only})
        self._aside = aside
        self._programs = [sys.prefix, sys.base_prefix, *filter(os.path.isabs, search_path.split(os.pathsep))]
        self._allowed: Callable[[str], bool] = allowed or (lambda path: False)
        self._max_memory, self._max_processes = max_memory, max_processes
        self._trees: dict[str, WorkspaceTree] = {}
        self._lock = threading.Lock()
        self.searched_all = True
        """Whether the last plan could look through the whole workspace for credential files."""
        self._tmp = ""
        self._masks = ""
        self._broken = ""

    def apart(self, read_only: Sequence[str]) -> "Sandbox":
        """The sandbox of an agent with a checkout of its own, by the same settings. It has a /tmp of its own, and these
        places are read-only there, whatever the settings let be written in or around them."""
        places = [os.path.realpath(path) for path in read_only]
        return Sandbox(
            lambda: self.status,
            network=self.network,
            required=self.required,
            writable=[path for path in self._writable if not any(overlap(path, place) for place in places)],
            hidden=self._hidden,
            home=self._home,
            aside=self._aside,
            search_path=os.pathsep.join(self._programs),
            allowed=self._allowed,
            max_memory=self._max_memory,
            max_processes=self._max_processes,
            read_only=places,
        )

    @property
    def status(self) -> "SandboxStatus":
        """What this machine enforces."""
        if self._status is None:
            self._status = self._find_status()
        return self._status

    @property
    def enforced(self) -> bool:
        """Whether a command started now would be held."""
        return not self._broken and self.status.enforced

    @property
    def why_not(self) -> str:
        """What to tell the user when it is not, or when it is weaker than it could be; empty when all is well."""
        if self._broken or self.status.why or self.searched_all:
            return self._broken or self.status.why
        return "the workspace is too large to look through for credential files; some may be readable to commands"

    def broke(self, reason: str) -> None:
        """A confined command could not be started: from now on commands ask."""
        self._broken = f"the sandbox stopped working ({reason}); commands ask instead"

    @property
    def tmp(self) -> str:
        """The session's own temporary directory, made when first needed, and again when a cleaner took it."""
        if not self._tmp or not os.path.isdir(self._tmp):
            self._tmp = private_directory()
        return self._tmp

    @property
    def masks(self) -> str:
        """A private directory beside it: what stands in place of hidden files. Commands cannot write there."""
        if not self._masks or not os.path.isdir(os.path.join(self._masks, "directory")):
            path = private_directory("-masks")
            os.mkdir(os.path.join(path, "directory"), 0)
            os.close(os.open(os.path.join(path, "file"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0))
            self._masks = path
        return self._masks

    def plan(
        self, roots: tuple[str, ...], *, command: str = "git", background: bool = False, needs: Sequence[str] = ()
    ) -> SandboxPlan:
        """For the next command; looked up anew each time, because files come and go.

        A command that does not name git finds git directories read-only. `background`: it runs on beside the user's own
        work. Where protected names are taken away rather than refused, what appears may be the user's: for such a
        command the top is shut instead, and only what exists can be written. `needs`: files of the user that it could
        not do without, by their paths.
        """
        with self._lock:
            plan = self._plan(roots, uses_git=_NAMES_GIT.search(command) is not None, background=background)
            if has_mounts(plan):
                plan["kept"] = kept_places([*self._programs, *needs], plan["writable"])
                below = tuple(f"{top}/" for top in REPLACED)
                plan["kept"] += [path for path in self._read_only if path.startswith(below) and os.path.exists(path)]
            plan["hidden"] = showing(plan["hidden"], needs)
            return plan

    def _plan(self, roots: tuple[str, ...], *, uses_git: bool, background: bool) -> SandboxPlan:
        places = tuple(dict.fromkeys(path for path in (*roots, *self._writable) if os.path.isdir(path)))
        protected: list[str] = []
        repositories: list[str] = []
        bare: list[str] = []
        secret: set[str] = set()
        self.searched_all = True
        for root in outermost(set(places)):
            found = self._trees.setdefault(root, WorkspaceTree(root)).look()
            protected += found.protected
            repositories += found.repositories
            bare += found.bare
            secret |= {os.path.realpath(path) for path in found.secret}
            self.searched_all = self.searched_all and found.complete
        read_only: list[str] = []
        for root in filter(os.path.isdir, self._read_only):
            found = self._trees.setdefault(root, WorkspaceTree(root)).look()
            read_only += [*found.repositories, *found.bare]
            secret |= {os.path.realpath(path) for path in found.secret}
            self.searched_all = self.searched_all and found.complete
        alone = self.status.kind == "landlock" and not self.status.namespaces
        shut = alone or (background and not self.status.guards)
        # Files of the project may lie in a bare one, so only what steers git is read-only there.
        open_repositories = [] if shut else [*(repositories if uses_git else ()), *bare]
        repositories += bare
        withheld = sorted(path for path in secret if os.path.exists(path) and not self._allowed(path))
        hidden = [*hidden_places(self._home, self._hidden, places), *withheld]
        if not alone:
            hidden += sockets_of_others()
        shown = self._shown([*repositories, *read_only])
        if alone:  # nothing can be shown in another place, so a configuration with a login is not shown at all
            hidden += shown
        named = [path for place in repositories for path in named_by_config(place, self._home)]
        named = [path for path in named if any(path.startswith(root.rstrip("/") + "/") for root in places)]
        protected += [path for path in named if os.path.exists(path)]
        protected += [
            path for path in own_installation() if any(path.startswith(root.rstrip("/") + "/") for root in places)
        ]
        covered = set(withheld)
        guarded = [] if shut else guarded_places(places, open_repositories, named)
        return {
            "kind": self.status.kind,
            "namespaces": self.status.namespaces,
            "writable": entries_to_write(places, [*protected, *repositories], inside=alone) if shut else sorted(places),
            "pinned": open_repositories,
            "protected": [
                *(
                    path
                    for path in (*protected, *repositories)
                    if path not in covered and path not in open_repositories
                ),
                *(path for place in open_repositories for path in redirectors(place)),
            ],
            "guarded": guarded if self.status.guards else [],
            "watched": [] if self.status.guards else guarded,
            "nested": not background,
            "git_configs": [
                "/etc/gitconfig",
                f"{self._home}/.gitconfig",
                f"{self._home}/.config/git/config",
                *(os.path.join(place, "config") for place in repositories),
            ],
            "aside": self._aside or os.path.join(self.masks, "aside"),
            "hidden": outermost({path for path in hidden if os.path.exists(path)}),
            "withheld": withheld,
            "shown": {} if alone else shown,
            "mask_file": os.path.join(self.masks, "file"),
            "mask_dir": os.path.join(self.masks, "directory"),
            "tmp": self.tmp,
            "kept": [],
            "network": self.network,
            "bwrap": self.status.bwrap,
            "max_memory": self._max_memory,
            "max_processes": 0 if alone else self._max_processes,
        }

    def _shown(self, repositories: list[str]) -> dict[str, str]:
        """Configurations of repositories that hold a login are shown without it: git cannot work without the file."""
        found: dict[str, str] = {}
        for number, repository in enumerate(repositories):
            path = os.path.join(repository, "config")
            text = read(path)
            clean = redact(without_logins(text)) if text and not self._allowed(path) else text
            if clean != text:
                found[path] = os.path.join(self.masks, f"config-{number}")
                replace_text(found[path], clean)
        return found

    def close(self) -> None:
        """Remove the temporary directories."""
        for path in (self._tmp, self._masks):
            if path:
                remove_tree(path)
        self._tmp = self._masks = ""


def private_directory(suffix: str = "") -> str:
    """A new directory of this session in /tmp, or, where nothing can be made there, elsewhere. Raises OSError."""
    name = f"clew-{os.getuid()}-{os.urandom(8).hex()}{suffix}"
    places = [*REPLACED, os.environ.get("TMPDIR", "")]
    for place in filter(os.path.isabs, places):
        path = os.path.join(os.path.realpath(place), name)
        with contextlib.suppress(OSError):
            os.mkdir(path, 0o700)
            return path
    raise OSError("there is no place for temporary files: neither /tmp nor /var/tmp nor $TMPDIR can be written")


_NAMES_GIT = LazyPattern(r"\b(?:git|gh|glab|jj|sl|pre-commit|lefthook|husky)\b")
"""Programs that write git directories. Others that do so of themselves are told how to ask."""


def entries_to_write(roots: tuple[str, ...], protected: list[str], *, inside: bool) -> list[str]:
    """With the top shut: each entry of a root by itself, without those that are protected. The root itself is none.

    `inside`: nothing else holds protected names further down, so the way to them is shut in the same manner.
    """
    barred = set(protected)
    above: set[str] = set()
    for path in protected if inside else ():
        while (path := os.path.dirname(path)) not in above and path != "/":
            above.add(path)
    found: list[str] = []
    todo = sorted(roots)
    while todo:
        folder = todo.pop()
        for name in names_in(folder):
            path = os.path.join(folder, name)
            if path in barred or os.path.islink(path):
                continue
            (todo if path in above else found).append(path)
    return sorted(found)


def guarded_places(roots: tuple[str, ...], repositories: list[str], named: list[str]) -> list[Guarded]:
    """The top of every root, directories there that have protected names in them, git directories, and the way to what
    a git configuration names: on it nothing can be put in the place of something that was moved away."""
    places = dict.fromkeys(roots, "")
    for root in roots:
        for parent in dict.fromkeys(parent for parent, _ in PROTECTED_PAIRS):
            path = os.path.join(root, parent)
            if os.path.isdir(path) and not os.path.islink(path):
                places[path] = parent
    for repository in repositories:
        places[repository] = ".git"
        if os.path.isdir(objects := os.path.join(repository, "objects")):
            places[objects] = ".git/objects"
    barred: dict[str, set[str]] = {}
    for path in named:
        while path not in roots and path != "/":
            path, name = os.path.split(path)
            barred.setdefault(path, set()).add(name)
    for path in barred:
        if os.path.isdir(path):
            places.setdefault(path, "elsewhere")
    found: list[Guarded] = []
    for path, prefix in places.items():
        known = names_in(path)
        names = sorted(barred.get(path, ()))
        repository = bool(prefix) or ".git" in known
        found.append({"path": path, "prefix": prefix, "known": known, "names": names, "repository": repository})
    return found


_LOGIN_LINE = LazyPattern(r"(?im)^(\s*(?:extraheader|password|token|oauth\w*|helper|\w*secret)\s*=\s*)\S.*$")


def without_logins(text: str) -> str:
    """A git configuration without headers, passwords and helpers that would log in."""
    return _LOGIN_LINE.sub(r"\1", text)


def replace_text(path: str, text: str) -> None:
    """A new file each time: a running command may still look at the old one."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with open(path, "x", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def remove_tree(path: str) -> None:
    """Everything below, never through a link. Small, because `shutil` takes longer to import than to be missed."""
    for folder, directories, _ in os.walk(path):
        for name in directories:
            entry = os.path.join(folder, name)
            if not os.path.islink(entry):
                with contextlib.suppress(OSError):
                    os.chmod(entry, 0o700)  # some tools leave directories that even their owner may not change
    for folder, directories, files in os.walk(path, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
        for name in directories:
            entry = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                (os.unlink if os.path.islink(entry) else os.rmdir)(entry)
    with contextlib.suppress(OSError):
        os.rmdir(path)
