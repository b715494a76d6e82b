"""Which hooks a person has let run: by digest, per project, in `$CLEW_HOME/hooks.json`.

Only the user's own word changes it. A damaged file approves nothing and is kept.
"""

import fcntl
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from clew.hooks.definitions import Hook
from clew.permissions.trust import TrustedPlace, place_at
from clew.system.private_files import private_dir, replace_private

FILE_NAME = "hooks.json"
MAX_BYTES = 4_000_000


class Approval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One remembered decision, with the words it was about."""

    digest: str
    place: TrustedPlace | None = None
    """The project it holds for; None: everywhere."""
    moment: str = ""
    command: str = ""


class _Store(Struct, kw_only=True):
    version: int = 1
    approved: list[Approval] = []


class HookApprovals:
    """Remembered decisions. A hook in the user's own clew settings needs none."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE_NAME
        self._known: set[tuple[str, TrustedPlace | None]] = set()
        self._seen: tuple[int, ...] | None = None
        self.problem = ""
        """What was wrong with the file, if it could not be read; nothing is approved then, and the file is kept."""

    def is_approved(self, hook: Hook, root: Path | str) -> bool:
        """Exactly this hook was approved for this project, which is still the same place."""
        if not hook.needs_approval:
            return True
        self._refresh()
        if not self._known:
            return False
        place = _place_for(hook, root)
        return (place is not None or hook.of_user) and (hook.digest, place) in self._known

    def approve(self, hooks: Iterable[Hook], root: Path | str) -> int:
        """Let these run from now on. How many of them were not approved before. Raises OSError."""
        with self._locked():
            store = self._load()
            known = {(one.digest, one.place) for one in store.approved}
            added = 0
            for hook in hooks:
                place = _place_for(hook, root)
                if not hook.needs_approval or (place is None and not hook.of_user) or (hook.digest, place) in known:
                    continue
                known.add((hook.digest, place))
                command = hook.command.encode(errors="replace").decode()
                store.approved.append(
                    Approval(digest=hook.digest, place=place, moment=hook.moment, command=command[:200])
                )
                added += 1
            if added:
                self._save(store)
            return added

    def revoke(self, hooks: Iterable[Hook], root: Path | str) -> int:
        """Take approvals back. How many there were. Raises OSError."""
        gone = {(hook.digest, _place_for(hook, root)) for hook in hooks}
        return self._remove(lambda one: (one.digest, one.place) in gone)

    def revoke_digests(self, digests: Iterable[str], root: Path | str) -> int:
        """As `revoke`, also for hooks that are no longer defined or have changed. Raises OSError."""
        gone, here = set(digests), place_at(os.path.realpath(root))
        return self._remove(lambda one: one.digest in gone and one.place in (None, here))

    def approved_for(self, root: Path | str) -> tuple[Approval, ...]:
        """What was approved for this project or for everywhere, whether it still is defined or not."""
        here = place_at(os.path.realpath(root))
        return tuple(one for one in self._load().approved if one.place in (None, here))

    def _remove(self, is_gone: Callable[[Approval], bool]) -> int:
        with self._locked():
            store = self._load()
            kept = [one for one in store.approved if not is_gone(one)]
            removed = len(store.approved) - len(kept)
            if removed:
                store.approved = kept
                self._save(store)
            return removed

    def _refresh(self) -> None:
        """Read again only what changed: this is asked before every run of a hook."""
        try:
            info = os.stat(self._path)
            seen = (info.st_dev, info.st_ino, info.st_mtime_ns, info.st_size)
        except OSError:
            seen = ()
        if seen != self._seen:
            self._known = {(one.digest, one.place) for one in self._load().approved} if seen else set()
            self._seen = seen

    def _load(self) -> _Store:
        self.problem = ""
        try:
            with open(self._path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return _Store()
        except OSError as problem:
            self.problem = f"{self._path}: {problem.strerror}; no hook is approved"
            return _Store()
        try:
            if len(data) > MAX_BYTES:
                raise msgspec.ValidationError("too large")
            return msgspec.json.decode(data, type=_Store)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.problem = f"{self._path} is damaged; no hook is approved until you approve it again"
            return _Store()

    def _save(self, store: _Store) -> None:
        """A damaged file is moved aside first, never overwritten."""
        if self.problem and self._path.exists():
            os.replace(self._path, self._path.with_name(f"{FILE_NAME}.damaged-{os.urandom(4).hex()}"))
        replace_private(self._path, msgspec.json.format(msgspec.json.encode(store), indent=2) + b"\n")
        self.problem, self._seen = "", None

    @contextmanager
    def _locked(self) -> Generator[None]:
        """One writer at a time: two decisions made at once must both be in the file afterwards."""
        held = os.open(private_dir(self._path.parent), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
        finally:
            os.close(held)


def _place_for(hook: Hook, root: Path | str) -> TrustedPlace | None:
    """None for what holds everywhere, and for a project that is not there any more."""
    return None if hook.of_user else place_at(os.path.realpath(root))
