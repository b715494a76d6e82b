"""What a person has let run: by digest, per project, in one file of the user's home.

Only the user's own word changes it. A damaged file approves nothing and is kept.
"""

import fcntl
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from clew.permissions.trust import TrustedPlace, place_at
from clew.system.private_files import private_dir, replace_private

MAX_BYTES = 4_000_000
MAX_WORDS_CHARS = 200


class Approval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One remembered decision, with the words it was about."""

    digest: str
    place: TrustedPlace | None = None
    """The project it holds for; None: everywhere."""
    moment: str = ""
    """When it runs, where there are moments."""
    command: str = ""


class _Store(Struct, kw_only=True):
    version: int = 1
    approved: list[Approval] = []


class ApprovalStore:
    """Remembered decisions about things that have digests."""

    def __init__(self, path: Path, *, what: str) -> None:
        """`what`: one of them, in words."""
        self._path = path
        self._what = what
        self._known: set[tuple[str, TrustedPlace | None]] = set()
        self._seen: tuple[int, ...] | None = None
        self.problem = ""
        """What was wrong with the file, if it could not be read; nothing is approved then, and the file is kept."""

    def is_approved(self, digest: str, place: TrustedPlace | None) -> bool:
        """Exactly this was approved, for this place."""
        self._refresh()
        return bool(digest) and (digest, place) in self._known

    def approve(self, wanted: Iterable[Approval]) -> int:
        """Let these run from now on. How many of them were not approved before. Raises OSError."""
        with self._locked():
            store = self._load()
            known = {(one.digest, one.place) for one in store.approved}
            added = 0
            for one in wanted:
                if (one.digest, one.place) in known:
                    continue
                known.add((one.digest, one.place))
                words = one.command.encode(errors="replace").decode()[:MAX_WORDS_CHARS]
                store.approved.append(Approval(digest=one.digest, place=one.place, moment=one.moment, command=words))
                added += 1
            if added:
                self._save(store)
            return added

    def revoke(self, gone: Callable[[Approval], bool]) -> int:
        """Take approvals back. How many there were. Raises OSError."""
        with self._locked():
            store = self._load()
            kept = [one for one in store.approved if not gone(one)]
            removed = len(store.approved) - len(kept)
            if removed:
                store.approved = kept
                self._save(store)
            return removed

    def approved_for(self, root: Path | str) -> tuple[Approval, ...]:
        """What was approved for this project or for everywhere, whether it still is defined or not."""
        here = place_at(os.path.realpath(root))
        return tuple(one for one in self._load().approved if one.place in (None, here))

    def _refresh(self) -> None:
        """Read again only what changed: this is asked before every run."""
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
            self.problem = f"{self._path}: {problem.strerror}; no {self._what} is approved"
            return _Store()
        try:
            if len(data) > MAX_BYTES:
                raise msgspec.ValidationError("too large")
            return msgspec.json.decode(data, type=_Store)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.problem = f"{self._path} is damaged; no {self._what} is approved until you approve it again"
            return _Store()

    def _save(self, store: _Store) -> None:
        """A damaged file is moved aside first, never overwritten."""
        if self.problem and self._path.exists():
            os.replace(self._path, self._path.with_name(f"{self._path.name}.damaged-{os.urandom(4).hex()}"))
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
