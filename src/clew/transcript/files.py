"""Opening the log: private, never through a link, never a pipe, never somebody else's file."""

import errno
import os
import stat
from pathlib import Path

from clew.transcript.errors import UnsafeTranscript

DIR_MODE = 0o700
FILE_MODE = 0o600
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""O_NONBLOCK: opening a FIFO must fail or return, never wait. It means nothing for regular files."""


def make_private_dir(path: Path) -> None:
    """The directory with its missing parents, each for this user only."""
    if path.is_dir():
        return
    make_private_dir(path.parent)
    try:
        os.mkdir(path, DIR_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise


def open_append(path: Path, *, create: bool) -> int:
    """A descriptor for reading and for appending whole lines. Raises UnsafeTranscript or OSError."""
    flags = os.O_RDWR | os.O_APPEND | _SAFE | (os.O_CREAT if create else 0)
    return _checked(path, flags)


def open_read(path: Path) -> int:
    """A descriptor for reading only."""
    return _checked(path, os.O_RDONLY | _SAFE)


def open_new(path: Path) -> int:
    """A descriptor of a file that did not exist before."""
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _SAFE, FILE_MODE)


def _checked(path: Path, flags: int) -> int:
    try:
        fd = os.open(path, flags, FILE_MODE)
    except OSError as error:
        if error.errno == errno.ELOOP or path.is_symlink():
            raise UnsafeTranscript(path, "is a symbolic link") from error
        if error.errno == errno.EISDIR:
            raise UnsafeTranscript(path, "is a directory") from error
        if error.errno in {errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP}:
            raise UnsafeTranscript(path, "is a pipe, socket or device") from error
        raise
    info = os.fstat(fd)
    why = _objection(info)
    if why:
        os.close(fd)
        raise UnsafeTranscript(path, why)
    return fd


def _objection(info: os.stat_result) -> str:
    if stat.S_ISDIR(info.st_mode):
        return "is a directory"
    if not stat.S_ISREG(info.st_mode):
        return "is a pipe, socket or device"
    if info.st_uid != os.geteuid():
        return "belongs to another user"
    return ""


def write_all(fd: int, data: bytes) -> int:
    """Write until done; short writes go on. Returns the number of bytes that made it before an OSError."""
    view = memoryview(data)
    done = 0
    while done < len(view):
        done += os.write(fd, view[done:])
    return done


def sync_dir(path: Path) -> None:
    """Make the directory's names durable, where the system allows."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass  # some file systems refuse to sync directories; the data itself is synced
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes) -> None:
    """Write a small file whole: temporary name, sync, rename."""
    make_private_dir(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    fd = open_new(temporary)
    try:
        write_all(fd, data)
        os.fsync(fd)
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    finally:
        os.close(fd)
