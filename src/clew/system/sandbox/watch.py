"""Names that must not come into being: taken away as they appear, and once more when the command has ended.

The kernel can hold what exists, by mounts, but has no rule against one new name in a directory that may be written. So
the keeper, outside the sandbox, watches those few directories. Standard library only.
"""

import contextlib
import os
import stat
import struct
from collections.abc import Iterator

from clew.system.sandbox import kernel
from clew.system.sandbox.forbidden import PAIR_PARENTS, forbidden
from clew.system.sandbox.plan import Guarded
from clew.text.guarded_names import folded

IN_MOVED_TO, IN_CREATE, IN_Q_OVERFLOW, IN_ONLYDIR = 0x80, 0x100, 0x4000, 0x1000000
EVENT = struct.Struct("iIII")
READ_BYTES = 65_536
MAX_TAKEN = 100
MAX_COPY_BYTES = 16_000_000
EDITORS_OWN = ("~", ".swp", ".swo", ".swx", ".tmp")
"""Beside a file that the user has open. No program takes these for the file itself."""


class Taken(Exception):
    """More names were taken away than honest work would make."""


class Directory:
    """One watched directory, held by descriptor: whatever is renamed, its own entries are meant."""

    def __init__(self, descriptor: int, path: str, prefix: str, known: frozenset[str], names: frozenset[str]) -> None:
        self.descriptor = descriptor
        self.path = path
        self.prefix = prefix
        self.known = known
        self.names = names

    def guards(self, name: str) -> bool:
        """Whether this entry must not come into being here."""
        if name in self.known or name.endswith(EDITORS_OWN):
            return False
        return name in self.names or forbidden(self.prefix, name, repository=".git" in self.known)


class Watch:
    """From before a command starts until it has ended."""

    def __init__(self, watched: list[Guarded], aside: str) -> None:
        self.taken: list[tuple[str, str]] = []
        """Path, and where it is kept now; empty when it could only be removed."""
        self._aside = aside
        self._directories: dict[int, Directory] = {}
        self._inotify = kernel.inotify()
        for place in watched:
            self._add(place["path"], place["prefix"], frozenset(place["known"]), frozenset(place["names"]))

    def fileno(self) -> int:
        """Readable when something came into being."""
        return self._inotify

    def _add(
        self,
        path: str,
        prefix: str,
        known: frozenset[str],
        names: frozenset[str] = frozenset(),
        *,
        below: Directory | None = None,
    ) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        name = path if below is None else os.path.basename(path)
        try:
            descriptor = os.open(name, flags, dir_fd=None if below is None else below.descriptor)
        except OSError:
            if below is None:
                raise
            return  # gone again, or no directory
        events = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR
        number = kernel.inotify_watch(self._inotify, f"/proc/self/fd/{descriptor}", events)
        if number in self._directories:
            os.close(descriptor)
            return
        self._directories[number] = Directory(descriptor, path, prefix, known, names)

    def look(self) -> None:
        """Take away what has just appeared. Raises Taken when there is no end to it."""
        with contextlib.suppress(BlockingIOError):
            for number, mask, name in events(os.read(self._inotify, READ_BYTES)):
                if mask & IN_Q_OVERFLOW:
                    self.sweep()
                elif number in self._directories:
                    self._judge(self._directories[number], name)
        if len(self.taken) > MAX_TAKEN:
            raise Taken("it went on making protected names")

    def sweep(self) -> None:
        """Whatever stands there now, however much it is."""
        seen = -1
        while seen != len(self._directories):  # a directory found on the way has entries of its own
            seen = len(self._directories)
            for directory in list(self._directories.values()):
                for name in os.listdir(directory.descriptor):
                    self._judge(directory, name)

    def _judge(self, directory: Directory, name: str) -> None:
        if directory.guards(name):
            self._take(directory, name)
        elif not directory.prefix and folded(name) in PAIR_PARENTS and name not in directory.known:
            path = os.path.join(directory.path, name)
            self._add(path, folded(name), frozenset(), below=directory)

    def _take(self, directory: Directory, name: str) -> None:
        kept = take_away(directory.descriptor, name, self._aside)
        if kept is not None:
            self.taken.append((os.path.join(directory.path, name), kept))

    def close(self) -> None:
        """Let go of all directories."""
        for directory in self._directories.values():
            os.close(directory.descriptor)
        os.close(self._inotify)


def take_away(folder: int, name: str, aside: str, *, beside: bool = False) -> str | None:
    """Move an entry out of a directory to a place that nothing obeys; where it is kept now, empty when it could only be
    removed, None when it was gone already. `beside`: rather than removed, it stays in its directory under another name.
    """
    kept = os.path.join(aside, f"{os.urandom(4).hex()}-{name}")
    try:
        os.makedirs(aside, mode=0o700, exist_ok=True)
        os.rename(name, kept, src_dir_fd=folder)
        return kept
    except FileNotFoundError:
        return None  # whoever made it has removed it
    except OSError:
        pass  # another file system: out of the way first, then a copy of a file, then gone
    away = f"{name}.taken-{os.urandom(4).hex()}.sample" if beside else f".clew-taken-{os.urandom(8).hex()}"
    with contextlib.suppress(OSError):
        os.rename(name, away, src_dir_fd=folder, dst_dir_fd=folder)
        if beside:
            return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), away)
        copied = copy_file(folder, away, kept)
        remove_entry(folder, away)
        return kept if copied else ""
    return ""


def events(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Watch number, kinds and name of each event."""
    at = 0
    while at < len(data):
        number, mask, _, size = EVENT.unpack_from(data, at)
        at += EVENT.size
        yield number, mask, os.fsdecode(data[at : at + size].rstrip(b"\0"))
        at += size


def copy_file(parent: int, name: str, target: str) -> bool:
    """Keep a regular file of reasonable size."""
    try:
        source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    except OSError:
        return False
    status = os.fstat(source)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_COPY_BYTES:
        os.close(source)
        return False
    with os.fdopen(source, "rb") as file:
        try:
            made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        with os.fdopen(made, "wb") as copy:
            copy.write(file.read(MAX_COPY_BYTES))
    return True


def remove_entry(parent: int, name: str) -> None:
    """A file or a whole directory, never through a link."""
    try:
        os.unlink(name, dir_fd=parent)
        return
    except OSError:
        pass  # on some systems unlinking a directory is not permitted rather than wrong
    with contextlib.suppress(OSError):
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            for entry in os.listdir(inner):
                remove_entry(inner, entry)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=parent)
