"""The sandbox of one session: its status, its temporary directory, and the plan for each command."""

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clew.system.sandbox.names import hidden_paths, is_file_name, protected_paths
from clew.system.sandbox.plan import Plan

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
    ) -> None:
        self.network = network
        self.required = required
        """No command may run without it, not even with the user's consent."""
        self._find_status = find_status
        self._status: SandboxStatus | None = None
        self._writable = tuple(os.path.realpath(path) for path in writable)
        self._home = os.path.realpath(home or os.path.expanduser("~"))
        self._hidden = tuple(hidden)
        self._tmp = ""
        self._broken = ""

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
        return self._broken or self.status.why

    def broke(self, reason: str) -> None:
        """A confined command could not be started: from now on commands ask."""
        self._broken = f"the sandbox stopped working ({reason}); commands ask instead"

    @property
    def tmp(self) -> str:
        """The session's own temporary directory, made when first needed, and again when a cleaner took it."""
        if not self._tmp or not os.path.isdir(self._tmp):
            path = os.path.join(os.path.realpath("/tmp"), f"clew-{os.getuid()}-{os.urandom(8).hex()}")
            os.mkdir(path, 0o700)
            self._tmp = path
        return self._tmp

    def plan(self, roots: tuple[str, ...]) -> Plan:
        """For the next command; looked up anew each time, because files come and go."""
        places = tuple(path for path in (*roots, *self._writable) if os.path.isdir(path))
        existing: list[str] = []
        missing: list[str] = []
        for root in places:
            there, absent = protected_paths(root, self._home)
            existing += there
            missing += absent
        alone = self.status.kind == "landlock" and not self.status.namespaces
        git = [os.path.join(root, ".git") for root in places]
        return {
            "kind": self.status.kind,
            "namespaces": self.status.namespaces,
            "writable": unprotected_entries(places, existing) if alone else list(places),
            "pinned": [path for path in git if os.path.isdir(path) and not os.path.islink(path)],
            "protected": existing,
            "missing": missing,
            "files": [path for path in missing if is_file_name(path)],
            "hidden": hidden_paths(self._home, self._hidden, places),
            "tmp": self.tmp,
            "network": self.network,
            "bwrap": self.status.bwrap,
        }

    def close(self) -> None:
        """Remove the temporary directory."""
        if self._tmp:
            remove_tree(self._tmp)
            self._tmp = ""


def unprotected_entries(roots: tuple[str, ...], protected: list[str]) -> list[str]:
    """For Landlock alone: it cannot take a right away below a granted directory, so each entry is granted by itself,
    and neither the root nor anything that holds a protected name is."""
    found: list[str] = []
    for root in roots:
        for name in sorted(os.listdir(root)):
            path = os.path.join(root, name)
            if not any(secret == path or secret.startswith(path + "/") for secret in protected) and name != ".git":
                found.append(path)
    return found


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
