"""An append-only file of JSON lines that several processes write: one lock, whole lines, tolerant reading.

The lock is `flock` on a file beside it, so a process that dies lets go of it. A line that was cut off by a kill, or
that somebody wrote by hand and that makes no sense, is skipped alone.
"""

import contextlib
import errno
import fcntl
import os
import random
import threading
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from clew.system.private_files import private_dir, replace_private, sync_dir, write_all

T = TypeVar("T")
TRIES = 400
MIN_PAUSE_S, MAX_PAUSE_S = 0.001, 0.02
"""Short pauses, many of them: nobody waits in a line for a lock, so whoever rarely looks may never have it."""


class LogBusy(Exception):
    """Somebody else held the lock all the time; trying again is worth it."""


class LogFull(Exception):
    """The disk, or what the user may keep on it, is full; nothing was stored."""


@contextlib.contextmanager
def locked(path: Path, *, tries: int = TRIES, pause: Callable[[float], None] = time.sleep) -> Generator[None]:
    """One process at a time. Raises LogBusy after about four seconds."""
    private_dir(path.parent)
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        for attempt in range(tries + 1):
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == tries:
                    raise LogBusy(f"{path.parent.name} is busy: others write to it all the time") from None
                pause(random.uniform(MIN_PAUSE_S, MAX_PAUSE_S))
        yield
    finally:
        os.close(held)


class SharedLog(Generic[T]):
    """The records of one file as this process knows them. Reading costs what is new since the last time. Threads of one
    process may share it: one reads the file at a time, and the others see whole states of it."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self._lock = path.with_suffix(".lock")
        self._decoder = msgspec.json.Decoder(kind)
        self._reading = threading.Lock()
        self._file: tuple[int, int] | None = None
        """Device and inode of what was read."""
        self._read = 0
        self._records: list[T] = []
        self.bad = 0
        """Lines that could not be read, the half one at the end apart."""
        self.replaced = 0
        """How often another file stood at the path and everything was read again."""

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """Nobody else writes meanwhile; what they wrote is read. Raises LogBusy."""
        with locked(self._lock):
            self.refresh()
            yield

    def refresh(self) -> bool:
        """Read what came since; whether anything did."""
        with self._reading:  # never held while somebody waits for the lock of the file
            return self._refresh()

    def _refresh(self) -> bool:
        if self._file is not None and self._is_as_read():
            return False
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            changed = self._file is not None
            self._start_over(None, [])
            return changed
        with os.fdopen(fd, "rb") as file:
            stat = os.fstat(file.fileno())
            here = (stat.st_dev, stat.st_ino)
            again = self._file != here or stat.st_size < self._read
            begin = 0 if again else self._read
            file.seek(begin)
            data = file.read() if stat.st_size > begin else b""
        whole = data.rfind(b"\n") + 1
        decoded = [self._decoded(line) for line in data[:whole].splitlines() if line.strip()]
        records = [record for record in decoded if record is not None]
        changed = again and self._file is not None
        if again:
            self._start_over(here, records)
        else:
            self._records.extend(records)
        self.bad += len(decoded) - len(records)
        self._read += whole
        return changed or whole > 0

    def _is_as_read(self) -> bool:
        """Whether the same file has the same length: whoever looks all the time opens nothing."""
        try:
            now = os.lstat(self.path)
        except OSError:
            return False
        return self._file == (now.st_dev, now.st_ino) and now.st_size == self._read

    def _start_over(self, file: tuple[int, int] | None, records: list[T]) -> None:
        """Another file stands there: its records are another list, and who reads the old one sees that whole."""
        self.replaced += self._file is not None
        self._file, self._read, self._records, self.bad = file, 0, records, 0

    def _decoded(self, line: bytes) -> T | None:
        try:
            return self._decoder.decode(line)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeError, RecursionError):
            return None

    @property
    def records(self) -> Sequence[T]:
        """What is known of it, in the order in which it was written; another list where another file was read."""
        return self._records

    @property
    def size(self) -> int:
        """Bytes that were read."""
        return self._read

    def append(self, *records: T) -> None:
        """Write these, all or none, and sync; only within `alone`. Raises LogFull, and OSError for another fault of the
        disk: then nothing was stored."""
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        new = not self.path.exists()
        fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                data = b"\n" + data  # somebody was killed in the middle of a line
            try:
                write_all(fd, data)
                os.fsync(fd)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, size)
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise LogFull(f"nothing was stored in {self.path}: the disk is full") from error
                raise
        finally:
            os.close(fd)
        if new:
            sync_dir(self.path.parent)
        self.refresh()

    def rewrite(self, records: Sequence[T]) -> None:
        """Only these from now on; only within `alone`, and written whole or not at all."""
        replace_private(self.path, b"".join(msgspec.json.encode(record) + b"\n" for record in records))
        self.refresh()
