"""The state of one path, read without following links and without waiting, and kept in the store."""

import errno
import os
import stat
import time
from typing import NamedTuple

from msgspec import Struct

from clew.system.files import open_directory, open_entry
from clew.undo.errors import NotKept
from clew.undo.packs import PackStore, digest_of
from clew.undo.state import MISSING, State

_TRIES = 3
_TICK_NS = 15_000_000
"""Kernels stamp times in ticks of at most 10 ms: two writes within one look the same."""
_COARSE_TICK_NS = 2_100_000_000
"""The same on file systems that keep whole seconds."""
BUSY = "it changed while it was read"


class ScanRow(Struct, frozen=True, gc=False, array_like=True):
    """What a scan remembers of an entry, so that an unchanged one is not read again."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    """With the file type."""
    links: int
    digest: bytes
    """Empty: no content, or not kept for the reason `why`."""
    why: str

    def fits(self, status: os.stat_result) -> bool:
        """Whether the entry is the one that was read. The inode's own time cannot be set back by a program."""
        if stat.S_ISDIR(self.mode):
            return self.mode == status.st_mode and self.inode == status.st_ino
        return (
            self.ctime_ns == status.st_ctime_ns
            and self.inode == status.st_ino
            and self.size == status.st_size
            and self.mtime_ns == status.st_mtime_ns
            and self.mode == status.st_mode
        )

    def state(self) -> State:
        """As a checkpoint writes it down."""
        mode = stat.S_IMODE(self.mode)
        if stat.S_ISDIR(self.mode):
            return State(kind="directory", mode=mode)
        if stat.S_ISLNK(self.mode):
            return State(kind="link", digest=self.digest.hex(), why=self.why)
        if not stat.S_ISREG(self.mode):
            return State(kind="special", mode=mode, why=self.why)
        return State(
            kind="file",
            digest=self.digest.hex(),
            mode=mode,
            size=self.size,
            mtime_ns=self.mtime_ns,
            inode=self.inode if self.links > 1 else 0,
            why=self.why,
        )


class Captured(NamedTuple):
    """A row, and whether a write right after the reading could go unseen."""

    row: ScanRow
    suspect: bool


def capture(parent: int, name: str, status: os.stat_result, *, store: PackStore | None, max_bytes: int) -> Captured:
    """Read and keep an entry of an open directory. Without a store it is read for its digest only.

    What cannot be read or kept has a row too, with the reason. Raises OSError when the entry is gone."""
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return _keep(os.fsencode(os.readlink(name, dir_fd=parent)), status, store)
    if not stat.S_ISREG(mode):
        return Captured(_row(status, why="" if stat.S_ISDIR(mode) else "it is no file, link or directory"), False)
    if status.st_size > max_bytes:
        return Captured(_row(status, why=f"larger than {size_words(max_bytes)}"), False)
    for _ in range(_TRIES):
        try:
            descriptor = open_entry(parent, name, name)
        except PermissionError:
            return Captured(_row(status, why="it cannot be read"), False)
        try:
            now_ns = time.time_ns()
            before = os.fstat(descriptor)
            data = _read(descriptor, before.st_size + 1)
            after = os.fstat(descriptor)
        except OSError as error:
            return Captured(_row(status, why=f"it cannot be read ({error.strerror})"), False)
        finally:
            os.close(descriptor)
        if len(data) == before.st_size == after.st_size and before.st_mtime_ns == after.st_mtime_ns:
            kept = _keep(data, after, store)
            return Captured(kept.row, _recent(after, now_ns))
        if len(data) > max_bytes:
            break
    return Captured(_row(status, why=BUSY), True)


def state_of(path: str, *, store: PackStore | None, max_bytes: int) -> State:
    """The state of a path by itself. A link in place of a parent is refused: OSError ELOOP or ENOTDIR."""
    captured = row_of(path, store=store, max_bytes=max_bytes)
    return captured.row.state() if captured else MISSING


def row_of(path: str, *, store: PackStore | None, max_bytes: int) -> Captured | None:
    """The same as a row; None when there is nothing."""
    folder, name = os.path.split(path)
    try:
        parent = open_directory(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ENOTDIR and not _through_link(folder):
            return None
        raise
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        return capture(parent, name, status, store=store, max_bytes=max_bytes)
    except FileNotFoundError:
        return None
    finally:
        os.close(parent)


def size_words(size: int) -> str:
    """Bytes for people."""
    return f"{size / 1024 / 1024:.0f} MB" if size >= 1024 * 1024 else f"{size:,} bytes"


def _keep(data: bytes, status: os.stat_result, store: PackStore | None) -> Captured:
    try:
        return Captured(_row(status, digest=store.put(data) if store is not None else digest_of(data)), False)
    except NotKept as error:
        return Captured(_row(status, why=str(error)), True)


def _row(status: os.stat_result, *, digest: bytes = b"", why: str = "") -> ScanRow:
    return ScanRow(
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_mode,
        status.st_nlink,
        digest,
        why,
    )


def _read(descriptor: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    while limit > 0 and (piece := os.read(descriptor, limit)):
        pieces.append(piece)
        limit -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _recent(status: os.stat_result, now_ns: int) -> bool:
    coarse = not status.st_mtime_ns % 1_000_000_000 and not status.st_ctime_ns % 1_000_000_000
    return now_ns - status.st_ctime_ns < (_COARSE_TICK_NS if coarse else _TICK_NS)


def _through_link(folder: str) -> bool:
    """Whether a component is a link; a plain file in place of a directory only means that nothing is below it."""
    at = ""
    for part in folder.split("/")[1:]:
        at = f"{at}/{part}"
        if os.path.islink(at):
            return True
    return False
