"""Our own files: for this user only, never through a link, written whole or not at all."""

import contextlib
import errno
import os
from pathlib import Path

DIR_MODE = 0o700
FILE_MODE = 0o600


def private_dir(path: Path) -> Path:
    """The directory, made if missing together with its parents, each for this user only."""
    if not path.is_dir():
        private_dir(path.parent)
        try:
            os.mkdir(path, DIR_MODE)
        except FileExistsError:
            if not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    return path


def open_new(path: Path | str, *, mode: int = FILE_MODE) -> int:
    """A descriptor of a file that did not exist before, for reading and appending."""
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def write_all(fd: int, data: bytes) -> None:
    """Write until done; short writes go on."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def replace_private(path: Path, data: bytes, *, mode: int = FILE_MODE) -> None:
    """Write a draft beside it, sync, rename it over `path`, sync the directory; missing parents are made.

    Whatever goes wrong, the old file stays as it was and no draft is left. `mode`: for a file that others may read.
    """
    private_dir(path.parent)
    draft = path.with_name(f".{path.name[:60]}.{os.urandom(6).hex()}.tmp")
    fd = open_new(draft, mode=mode)
    try:
        write_all(fd, data)
        os.fsync(fd)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    finally:
        os.close(fd)
    sync_dir(path.parent)


def sync_dir(path: Path) -> bool:
    """Make the directory's names durable, where the system allows. False: the disk failed, the names may be lost."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        os.fsync(fd)
    except OSError as error:
        # Some file systems refuse to sync directories; there the data itself is all that can be synced.
        return error.errno not in {errno.EIO, errno.ENOSPC, errno.EDQUOT}
    finally:
        os.close(fd)
    return True
