"""A whole new file in the place of one that vanished, was swapped, or lost a sync; nothing is destroyed."""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from clew.system.private_files import open_new, private_dir, sync_dir, write_all
from clew.transcript.files import open_append

_CHUNK = 1024 * 1024


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
