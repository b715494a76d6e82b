"""Which hooks a session has, and which of them may run: looked at again before every run."""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew.host.workspace import Workspace
from clew.protocol.events import HookRow

if TYPE_CHECKING:
    from clew.hooks.approvals import HookApprovals
    from clew.hooks.definitions import Hook


class HookRegistry:
    """Read when the session begins, and again when a person asks. What reads them is loaded where there may be any."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._approvals: HookApprovals | None = None
        self.hooks: tuple[Hook, ...] = ()
        self.problems: tuple[str, ...] = ()
        if may_have_hooks(workspace):
            self.read()

    def read(self) -> None:
        """All definitions as they stand now."""
        from clew.hooks.settings import hooks_in_force  # most sessions have no hooks

        place = self._workspace
        found = hooks_in_force(
            place.loaded, home=place.home, root=place.root, trusted=place.trusted, env=place.env, sources=place.sources
        )
        problem = self.approvals.problem
        self.hooks = found.hooks
        self.problems = (*found.problems, *([problem] if problem else []))

    @property
    def approvals(self) -> "HookApprovals":
        """What people decided so far."""
        if self._approvals is None:
            from clew.hooks.approvals import HookApprovals  # as above

            self._approvals = HookApprovals(self._workspace.home)
        return self._approvals

    def due(self, moment: str, subject: str) -> "list[Hook]":
        """The hooks of a moment whose matcher fits, approved or not; what stands in several files once."""
        if not any(hook.moment == moment for hook in self.hooks):
            return []
        from clew.hooks.matching import matches  # as above
        from clew.hooks.running import distinct

        fitting = [hook for hook in self.hooks if hook.moment == moment and matches(hook.matcher, subject)]
        approved = [hook for hook in fitting if self.approvals.is_approved(hook, self._workspace.root)]
        return distinct(approved) + [hook for hook in fitting if hook not in approved]

    def may_run(self, hook: "Hook") -> bool:
        """Whether exactly this hook was approved, and all it names is still what was looked at. Reads files."""
        return not self.has_changed(hook) and self.approvals.is_approved(hook, self._workspace.root)

    def has_changed(self, hook: "Hook") -> bool:
        """Whether something that it names is no longer what it was when hooks were read. Reads files."""
        if not hook.needs_approval:
            return False
        from clew.hooks.digests import TooManyNames, digest_of  # as above

        try:
            return digest_of(hook, str(self._workspace.root)) != hook.digest
        except TooManyNames:
            return True

    def approved_again(self, hook: "Hook") -> "Hook | None":
        """The same definition as it was read since, if that may run: what it names is what was approved after all."""
        same = (one for one in self.hooks if replace(one, digest=hook.digest) == hook)
        return next((one for one in same if one.digest != hook.digest and self.may_run(one)), None)

    def rows(self) -> tuple[HookRow, ...]:
        """As people decide about them."""
        return tuple(
            hook.row(approved=self.approvals.is_approved(hook, self._workspace.root), trusted=self._workspace.trusted)
            for hook in self.hooks
        )

    def unapproved(self) -> tuple[HookRow, ...]:
        """What a person should look at."""
        return tuple(row for row in self.rows() if row.state == "unapproved")

    def decide(self, digests: Collection[str], *, approved: bool) -> None:
        """A person's word about exactly these, as they stand now. Raises KeyError for one that is not there, or
        OSError."""
        self.read()
        chosen = [hook for hook in self.hooks if hook.digest in digests]
        if missing := set(digests) - {hook.digest for hook in chosen}:
            raise KeyError(min(missing))
        if approved:
            self.approvals.approve(chosen, self._workspace.root)
        else:
            self.approvals.revoke(chosen, self._workspace.root)


def may_have_hooks(workspace: Workspace) -> bool:
    """Whether it is worth looking: a few names on disk, and what settings say anyway."""
    loaded, env = workspace.loaded, workspace.env
    if loaded.settings.hooks or loaded.given_hooks is not None:
        return True
    claude = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".claude")
    files = [os.path.join(claude, "settings.json")]
    if workspace.trusted:
        names = ("settings.json", "settings.local.json")
        files += [str(workspace.root / folder / name) for folder in (".clew", ".claude") for name in names]
    return any(os.path.lexists(file) for file in files)
