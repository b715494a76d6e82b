"""What of a transcript would survive a power cut, and what is done when a sync fails.

After a failed fsync the kernel may count pages as clean that were never written; the next fsync then succeeds over lost
data. So a failure is final for that file: only a new one is believed, written whole from the part that was confirmed
before and the lines that are kept here since. A file that vanished or was swapped is written anew, too, from the open
descriptor; nothing is destroyed.
"""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from clew.system.private_files import open_new, private_dir, sync_dir, write_all
from clew.transcript.log.files import open_append

_CHUNK = 1024 * 1024
_RAREST_TRY = 64
"""Each try writes the whole history, so tries become rarer while the disk stays bad: every 64th sync at last."""


class Durability:
    """Follows one open file. Lines are held in memory from their write to the sync that confirms them."""

    def __init__(self, size: int) -> None:
        """`size`: what was there when the file was opened. It came from a process that may not have synced it."""
        self._confirmed_bytes = size
        self._lines: list[bytes] = []
        self._checked = False
        self._doubt = ""
        self._syncs_until_try = 0
        self._gap = 1

    @property
    def doubt(self) -> str:
        """Why the file itself is not believed any more; "" while it is."""
        return self._doubt

    @property
    def unconfirmed(self) -> int:
        """Lines written since the last sync that succeeded."""
        return len(self._lines)

    @property
    def due(self) -> bool:
        """Whether the next sync would do anything."""
        return bool(self._lines or self._doubt or not self._checked)

    def wrote(self, line: bytes) -> None:
        """A line is in the file."""
        self._lines.append(line)

    def copied(self) -> None:
        """The file is a copy now, byte by byte: to be synced before anything is said about it."""
        self._checked = False

    def named(self, folder: Path) -> None:
        """The file got its name: that, too, must be on disk before anything in it is."""
        if not sync_dir(folder):
            self._doubt = f"{folder.name}: {os.strerror(errno.EIO)}"

    def sync(self, fd: int) -> bool:
        """Force everything to disk. Raises nothing; False leaves a doubt that only `rewrite` can end."""
        if self._doubt:
            return False
        try:
            os.fsync(fd)
        except OSError as error:
            self._doubt = error.strerror or str(error)
            return False
        self._settle(os.fstat(fd).st_size)
        return True

    def worth_a_try(self) -> bool:
        """Whether this sync should try to write the file anew; counted in syncs."""
        if self._syncs_until_try > 0:
            self._syncs_until_try -= 1
            return False
        self._syncs_until_try = self._gap - 1
        self._gap = min(self._gap * 2, _RAREST_TRY)
        return True

    def rewrite(self, path: Path, fd: int) -> int:
        """A new, synced file under the same name: its descriptor; `fd` stays open. Raises OSError."""
        fresh = rewrite_file(path, fd, self._confirmed_bytes, self._lines)
        self._settle(os.fstat(fresh).st_size)
        self.named(path.parent)
        return fresh

    def _settle(self, size: int) -> None:
        self._confirmed_bytes = size
        self._lines = []
        self._checked = True
        self._doubt = ""
        self._syncs_until_try, self._gap = 0, 1


def restore_file(path: Path, fd: int, tell: Callable[[str], None]) -> int:
    """The descriptor to append to: `fd` while the path still names that file, else one of a restored copy.

    An open descriptor keeps a deleted file's bytes alive, so the whole history is copied from there, not only what
    this process wrote. Whatever took the name is moved aside. Raises OSError when the copy cannot be made.
    """
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        info = None
    own = os.fstat(fd)
    if info is not None and (info.st_dev, info.st_ino) == (own.st_dev, own.st_ino):
        return fd
    private_dir(path.parent)
    temporary = _draft(path)
    copy = open_new(temporary)
    try:
        _copy(fd, copy, own.st_size)
        os.fsync(copy)
        aside = _move_aside(path) if info is not None else None
        os.rename(temporary, path)
        sync_dir(path.parent)
        restored = open_append(path, create=False)
    except OSError:
        if temporary.exists():
            os.unlink(temporary)
        raise
    finally:
        os.close(copy)
    os.close(fd)
    if aside is None:
        tell(f"{path} was deleted while the session was open; the whole history was written anew")
    else:
        tell(f"{path} was replaced while the session was open; the history was written anew, the other file is {aside}")
    return restored


def rewrite_file(path: Path, fd: int, confirmed_bytes: int, lines: Sequence[bytes]) -> int:
    """A synced file under the name of `fd`: its first bytes, which a sync confirmed, then `lines`, which none did.

    Returns the descriptor to append to. Whatever somebody else added since is kept behind them. Readers find the old
    file or the new one, both whole. Raises OSError; then the old file is as it was and no draft is left.
    """
    size = os.fstat(fd).st_size
    _check_room(path.parent, size)
    draft = _draft(path)
    fresh = open_new(draft)
    try:
        _copy(fd, fresh, min(confirmed_bytes, size))
        for data in _since(fd, confirmed_bytes, size, lines):
            write_all(fresh, data)
        os.fsync(fresh)
        os.rename(draft, path)
    except BaseException:
        os.close(fresh)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    return fresh


def _since(fd: int, start: int, size: int, lines: Sequence[bytes]) -> list[bytes]:
    """Our lines, and those of the file that are not ours. The file's own bytes may be wrong: ours come from memory."""
    whole = b"".join(lines)
    try:
        found = os.pread(fd, max(0, size - start), start)
    except OSError:  # what cannot be read any more is not in our way
        return [whole]
    if found == whole:
        return [whole]
    ours = set(whole.split(b"\n"))
    others = [line + b"\n" for line in found.split(b"\n") if line.strip(b"\0 \r") and line not in ours]
    return [whole, *others]


def _check_room(folder: Path, size: int) -> None:
    """So that a large history is not copied in vain."""
    room = os.statvfs(folder)
    if room.f_bavail * room.f_frsize < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")


def _move_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.stem}.replaced-{int(time.time())}-{os.urandom(2).hex()}")
    os.rename(path, aside)
    return aside


def _copy(source: int, target: int, size: int) -> None:
    offset = 0
    while offset < size:
        data = os.pread(source, min(_CHUNK, size - offset), offset)
        if not data:
            return
        write_all(target, data)
        offset += len(data)
