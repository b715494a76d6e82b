"""The file vanished or was swapped while open: put the history back, destroy nothing."""

import os
import time
from collections.abc import Callable
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
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
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
