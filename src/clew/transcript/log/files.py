"""Opening the log: private, never through a link, never a pipe, never somebody else's file."""

import contextlib
import errno
import os
import stat
from pathlib import Path

from clew.system.private_files import FILE_MODE, write_all
from clew.system.private_files import private_dir as make_private_dir
from clew.system.private_files import replace_private as replace_file
from clew.transcript.errors import UnsafeTranscript

__all__ = ["make_private_dir", "open_append", "open_read", "replace_file", "write_all"]

_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""O_NONBLOCK: opening a FIFO must fail or return, never wait. It means nothing for regular files."""


def open_append(path: Path, *, create: bool) -> int:
    """A descriptor for reading and for appending whole lines; what others could read is ours alone from now on.

    Raises UnsafeTranscript or OSError.
    """
    flags = os.O_RDWR | os.O_APPEND | _SAFE | (os.O_CREAT if create else 0)
    fd = _checked(path, flags)
    if stat.S_IMODE(os.fstat(fd).st_mode) & 0o077:
        with contextlib.suppress(OSError):  # a file system without modes; the directory is private all the same
            os.fchmod(fd, FILE_MODE)
    return fd


def open_read(path: Path) -> int:
    """A descriptor for reading only."""
    return _checked(path, os.O_RDONLY | _SAFE)


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
