"""Memory files that a command changed: an agent takes them as orders, so a person looks at them before they count.

Kept per file with a digest of what the command left there. A file that somebody edited since has another digest and is
believed again.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, cast

from msgspec import Struct, ValidationError, convert, to_builtins

from clew.system.files import read_regular
from clew.system.private_files import private_dir, replace_private
from clew.text.guarded_names import folded
from clew.text.steering_files import MEMORY_FILES

FILE_NAME = "memory-doubts.json"
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
        self._file = home / FILE_NAME

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
            replace_private(self._file, json.dumps({"doubts": to_builtins(doubts[-MAX_DOUBTS:])}).encode())
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
