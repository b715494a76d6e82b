"""The sandbox of one session: its status, its temporary directory, and the plan for each command."""

import os
import shutil
import tempfile
from collections.abc import Sequence

from clew.system.sandbox.names import hidden_paths, protected_paths
from clew.system.sandbox.plan import Plan
from clew.system.sandbox.status import SandboxStatus


class Sandbox:
    """Holds shell commands. Roots come from the user; nothing here takes a word from a model."""

    def __init__(
        self,
        status: SandboxStatus,
        *,
        network: bool = False,
        home: str = "",
        hidden: Sequence[str] = (),
    ) -> None:
        self.status = status
        self.network = network
        self._home = os.path.realpath(home or os.path.expanduser("~"))
        self._hidden = tuple(hidden)
        self._tmp = ""
        self._broken = ""

    @property
    def enforced(self) -> bool:
        """Whether a command started now would be held."""
        return self.status.enforced and not self._broken

    @property
    def why_not(self) -> str:
        """What to tell the user when it is not."""
        return self._broken or self.status.why

    def broke(self, reason: str) -> None:
        """A confined command could not be started: from now on commands ask."""
        self._broken = f"the sandbox stopped working ({reason}); commands ask instead"

    @property
    def tmp(self) -> str:
        """The session's own temporary directory, made when first needed."""
        if not self._tmp:
            self._tmp = os.path.realpath(tempfile.mkdtemp(prefix="clew-"))
        return self._tmp

    def plan(self, roots: tuple[str, ...]) -> Plan:
        """For the next command; looked up anew each time, because files come and go."""
        existing: list[str] = []
        missing: list[str] = []
        for root in roots:
            there, absent = protected_paths(root, self._home)
            existing += there
            missing += absent
        alone = self.status.kind == "landlock" and not self.status.namespaces
        git = [path for root in roots if os.path.isdir(path := os.path.join(root, ".git")) and not os.path.islink(path)]
        return {
            "kind": self.status.kind,
            "namespaces": self.status.namespaces,
            "writable": unprotected_entries(roots, existing) if alone else list(roots),
            "pinned": git,
            "protected": existing,
            "missing": missing,
            "hidden": hidden_paths(self._home, self._hidden, roots),
            "tmp": self.tmp,
            "network": self.network,
            "bwrap": self.status.bwrap,
        }

    def close(self) -> None:
        """Remove the temporary directory."""
        if self._tmp:
            shutil.rmtree(self._tmp, ignore_errors=True)
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
