"""Which hooks a person has let run: by digest, per project, in `$CLEW_HOME/hooks.json`."""

import os
from collections.abc import Iterable
from pathlib import Path

from clew.hooks.definitions import HookDefinition
from clew.permissions.approval_store import Approval, ApprovalStore
from clew.permissions.trust import TrustedPlace, place_at

FILE_NAME = "hooks.json"


class HookApprovals:
    """Remembered decisions. A hook in the user's own clew settings needs none."""

    def __init__(self, home: Path) -> None:
        self._store = ApprovalStore(home / FILE_NAME, what="hook")

    @property
    def problem(self) -> str:
        """What was wrong with the file, if it could not be read."""
        return self._store.problem

    def is_approved(self, hook: HookDefinition, root: Path | str) -> bool:
        """Exactly this hook was approved for this project, which is still the same place."""
        if not hook.needs_approval:
            return True
        place = _place_for(hook, root)
        return (place is not None or hook.of_user) and self._store.is_approved(hook.digest, place)

    def approve(self, hooks: Iterable[HookDefinition], root: Path | str) -> int:
        """Let these run from now on. How many of them were not approved before. Raises OSError."""
        wanted = [(hook, _place_for(hook, root)) for hook in hooks if hook.needs_approval]
        return self._store.approve(
            Approval(digest=hook.digest, place=place, moment=hook.moment, command=hook.command)
            for hook, place in wanted
            if place is not None or hook.of_user
        )

    def revoke(self, hooks: Iterable[HookDefinition], root: Path | str) -> int:
        """Take approvals back. How many there were. Raises OSError."""
        gone = {(hook.digest, _place_for(hook, root)) for hook in hooks}
        return self._store.revoke(lambda one: (one.digest, one.place) in gone)

    def revoke_digests(self, digests: Iterable[str], root: Path | str) -> int:
        """As `revoke`, also for hooks that are no longer defined or have changed. Raises OSError."""
        gone, here = set(digests), place_at(os.path.realpath(root))
        return self._store.revoke(lambda one: one.digest in gone and one.place in (None, here))

    def approved_for(self, root: Path | str) -> tuple[Approval, ...]:
        """What was approved for this project or for everywhere, whether it still is defined or not."""
        return self._store.approved_for(root)


def _place_for(hook: HookDefinition, root: Path | str) -> TrustedPlace | None:
    """None for what holds everywhere, and for a project that is not there any more."""
    return None if hook.of_user else place_at(os.path.realpath(root))
