"""Which directories the user trusts (T1-T6): keyed on what a place is, not on what it is called.

A decision names the real path of a repository or folder with its device and inode. A repository inside a trusted one
asks again; a worktree pointer file lends nothing; a directory that was replaced under the same name asks again.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from clew.system.private_files import replace_private

FILE_NAME = "trust.json"


class TrustedPlace(Struct, frozen=True, kw_only=True):
    """One remembered decision."""

    path: str
    device: int
    inode: int


class _Store(Struct, kw_only=True):
    version: int = 1
    trusted: list[TrustedPlace] = []


class TrustStore:
    """Remembered decisions in `$CLEW_HOME/trust.json`. Only the user's own word changes it."""

    def __init__(self, clew_home: Path) -> None:
        self._path = clew_home / FILE_NAME
        self.problem = ""
        """What was wrong with the file, if it could not be read; nothing is trusted then, and the file is kept."""

    def is_trusted(self, path: str | Path) -> bool:
        """The place, or the root of the repository it lies in, was trusted and is still the same place."""
        root = trust_root(path)
        trusted = self._load().trusted
        if place_at(root) in trusted:
            return True
        if os.path.lexists(os.path.join(root, ".git")):
            return False
        # A plain folder below a trusted plain folder is part of it; the home and the system root are too wide for that.
        wide = {"/", os.path.realpath(os.path.expanduser("~"))}
        return any(place_at(str(above)) in trusted for above in Path(root).parents if str(above) not in wide)

    def remember(self, path: str | Path) -> str:
        """Trust the repository (or directory) that holds this path; returns its root."""
        root = trust_root(path)
        here = place_at(root)
        if here is None:
            raise FileNotFoundError(f"{root} is not a directory")
        store = self._load()
        store.trusted = [place for place in store.trusted if place.path != here.path] + [here]
        self._save(store)
        return root

    def forget(self, path: str | Path) -> bool:
        """Take a decision back. False when there was none."""
        root = trust_root(path)
        store = self._load()
        kept = [place for place in store.trusted if place.path != root]
        if len(kept) == len(store.trusted):
            return False
        store.trusted = kept
        self._save(store)
        return True

    def places(self) -> tuple[TrustedPlace, ...]:
        """All remembered decisions."""
        return tuple(self._load().trusted)

    def _load(self) -> _Store:
        self.problem = ""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return _Store()
        except OSError as problem:
            self.problem = f"{self._path}: {problem.strerror}; nothing is trusted"
            return _Store()
        try:
            return msgspec.json.decode(data, type=_Store)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
            self.problem = f"{self._path} is damaged; nothing is trusted until you trust a directory again"
            return _Store()

    def _save(self, store: _Store) -> None:
        """A damaged file is moved aside first, never overwritten."""
        if self.problem and self._path.exists():
            os.replace(self._path, self._path.with_name(f"{FILE_NAME}.damaged-{os.urandom(4).hex()}"))
        replace_private(self._path, msgspec.json.format(msgspec.json.encode(store), indent=2) + b"\n")
        self.problem = ""


def trust_root(path: str | Path) -> str:
    """The directory a decision is about: the nearest repository around the path, else the directory itself.

    A `.git` file (a worktree or submodule pointer) makes its directory a root of its own, whatever it points to: it
    borrows nothing from the repository it names (CVE-2026-40068).
    """
    place = os.path.realpath(path)
    if not os.path.isdir(place):
        place = os.path.dirname(place)
    current = place
    while True:
        if os.path.lexists(os.path.join(current, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return place
        current = parent


def place_at(root: str) -> TrustedPlace | None:
    """A directory with what it is, not only what it is called; None when there is none."""
    try:
        info = os.lstat(root)
    except OSError:
        return None
    if not os.path.isdir(root):
        return None
    return TrustedPlace(path=root, device=info.st_dev, inode=info.st_ino)
