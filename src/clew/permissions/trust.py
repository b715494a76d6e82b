"""Which directories the user trusts (T1-T6): keyed on what a place is, not on what it is called.

A decision names the real path of a repository or folder with its device and inode. A repository inside a trusted one
asks again; a worktree pointer file lends nothing; a directory that was replaced under the same name asks again.

And which memory files are not believed: those that a command changed, until a person has looked at them. Kept per file
with a digest of what the command left there; one that somebody edited since has another digest and is believed again.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct, ValidationError, convert, to_builtins

from clew.system.files import read_regular
from clew.system.private_files import private_dir, replace_private
from clew.text.guarded_names import folded
from clew.text.steering_files import MEMORY_FILES

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


DOUBTS_NAME = "memory-doubts.json"
BY_COMMAND = "was changed by a command"
MAX_DOUBTS = 500
MAX_BYTES = 1_000_000


class MemoryDoubt(Struct, frozen=True, kw_only=True):
    """One file as a command left it."""

    path: str
    digest: str
    command: str


class DoubtedMemory:
    """What nobody has looked at yet, of all projects."""

    def __init__(self, home: Path) -> None:
        self._file = home / DOUBTS_NAME

    def add(self, paths: Iterable[str], command: str) -> list[str]:
        """Doubt these files from now on; those of them that are there. Raises OSError."""
        found = {path: digest for path in paths if (digest := digest_of(path))}
        if found:
            with self._changing() as doubts:
                doubts[:] = [doubt for doubt in doubts if doubt.path not in found]
                doubts += [MemoryDoubt(path=path, digest=digest, command=command) for path, digest in found.items()]
        return sorted(found)

    def of(self, root: Path) -> tuple[MemoryDoubt, ...]:
        """Files below a directory that are still as a command left them."""
        here = (doubt for doubt in self._read() if inside(doubt.path, root))
        return tuple(doubt for doubt in here if digest_of(doubt.path) == doubt.digest)

    def accept(self, root: Path) -> tuple[MemoryDoubt, ...]:
        """A person has looked: believe the files below a directory. Raises OSError."""
        with self._changing() as doubts:
            accepted = tuple(doubt for doubt in doubts if inside(doubt.path, root))
            doubts[:] = [doubt for doubt in doubts if not inside(doubt.path, root)]
        return accepted

    def why_not(self, path: Path) -> str:
        """Why a file is not believed, or an empty string."""
        if not os.path.lexists(self._file):
            return ""
        place = os.path.realpath(path)
        for doubt in self._read():
            if doubt.path == place and digest_of(place) == doubt.digest:
                words = " ".join(doubt.command.split())[:80]
                return f"{BY_COMMAND} ({words}) and nobody has looked at it; /memory shows it"
        return ""

    def _read(self) -> list[MemoryDoubt]:
        """A file that cannot be read doubts nothing it could name; it is written anew with the next doubt."""
        try:
            document: Any = json.loads(self._file.read_bytes())
            return convert(cast("dict[str, Any]", document)["doubts"], list[MemoryDoubt])
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            return []

    @contextlib.contextmanager
    def _changing(self) -> Generator[list[MemoryDoubt]]:
        private_dir(self._file.parent)
        lock = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            doubts = self._read()
            yield doubts
            if len(doubts) > MAX_DOUBTS:
                # Nobody reads many; those nearest to a project's root are read first, and stay.
                doubts.sort(key=lambda doubt: doubt.path.count("/"))
            replace_private(self._file, json.dumps({"doubts": to_builtins(doubts[:MAX_DOUBTS])}).encode())
        finally:
            os.close(lock)


def is_memory_name(path: str) -> bool:
    """Whether agents read a file of this name as orders."""
    return folded(os.path.basename(path)) in MEMORY_FILES


def inside(path: str, root: Path) -> bool:
    """Below a directory, links of its own followed."""
    return path.startswith(os.path.realpath(root).rstrip("/") + "/")


def digest_of(path: str) -> str:
    """Of what a regular file holds; empty where there is none."""
    import hashlib  # only where a file is doubted

    try:
        data = read_regular(path, max_bytes=MAX_BYTES).data
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()
