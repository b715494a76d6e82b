"""Files opened without following links, read without hanging, written whole or not at all."""

import contextlib
import errno
import os
import stat
import sys
from typing import NamedTuple

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", 0)
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFLNK: "a symbolic link",
}


class NotRegular(OSError):
    """The path holds something that has no content to read or replace."""

    def __init__(self, path: str, mode: int) -> None:
        super().__init__(errno.EINVAL, f"is {kind_of(mode)}, not a regular file", path)
        self.is_directory = stat.S_ISDIR(mode)


class Changed(OSError):
    """The file is no longer the one that was looked at."""


class Snapshot(NamedTuple):
    """A file's content and identity at one moment."""

    data: bytes
    status: os.stat_result


def kind_of(mode: int) -> str:
    """What a file mode means, in words."""
    return KINDS.get(stat.S_IFMT(mode), "a regular file")


def open_directory(path: str, *, create: bool = False) -> int:
    """A descriptor of this directory. Every component is opened by itself, relative to the one before, and must be
    a real directory: a link anywhere, also one swapped in meanwhile, is refused with ELOOP or ENOTDIR."""
    if not path.startswith("/"):
        raise ValueError(f"an absolute path is needed, not {path!r}")
    held = os.open("/", DIRECTORY)
    try:
        for part in path.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                raise ValueError(f"a resolved path is needed, not {path!r}")
            step = enter(held, part, create=create)
            os.close(held)
            held = step
    except BaseException:
        os.close(held)
        raise
    return held


def enter(parent: int, name: str, *, create: bool) -> int:
    """One component down."""
    try:
        return os.open(name, DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o777, dir_fd=parent)
    return os.open(name, DIRECTORY, dir_fd=parent)


def open_regular(path: str) -> int:
    """A descriptor for reading a regular file at this resolved path; devices, pipes and sockets are never opened."""
    parent, name = os.path.split(path)
    if not name:
        raise NotRegular(path, stat.S_IFDIR)
    held = open_directory(parent)
    try:
        return open_entry(held, name, path)
    finally:
        os.close(held)


def open_entry(parent: int, name: str, path: str) -> int:
    """As `open_regular`, inside a held directory. O_NONBLOCK: an entry swapped for a FIFO cannot block either."""
    before = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISREG(before.st_mode):
        raise NotRegular(path, before.st_mode)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = os.open(name, flags, dir_fd=parent)
    after = os.fstat(descriptor)
    if not stat.S_ISREG(after.st_mode):
        os.close(descriptor)
        raise NotRegular(path, after.st_mode)
    return descriptor


def read_regular(path: str, *, max_bytes: int) -> Snapshot:
    """The whole content, or OSError EFBIG when it is larger than the limit."""
    descriptor = open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"is larger than {max_bytes:,} bytes", path)
    return Snapshot(data, status)


def replace_file(path: str, data: bytes, *, expected: os.stat_result | None, mode: int = 0o666) -> os.stat_result:
    """Write a sibling, sync it, rename it over `path`, sync the directory. The parents are made when missing.

    `expected` is the file this replaces, None when there must be none: otherwise `Changed`, and nothing is written.
    """
    parent, name = os.path.split(path)
    if not name or name in (".", ".."):
        raise NotRegular(path, stat.S_IFDIR)
    held = open_directory(parent, create=expected is None)
    temporary = f".{name[:60]}.{os.urandom(6).hex()}.tmp"
    try:
        check_unchanged(held, name, path, expected)
        fresh = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, fresh, 0o600 if expected else mode, dir_fd=held)
        try:
            fill(descriptor, data, expected)
            written = os.fstat(descriptor)
            check_unchanged(held, name, path, expected)
            put_in_place(held, temporary, name, path, expected)
        except BaseException:
            os.unlink(temporary, dir_fd=held)
            raise
        finally:
            os.close(descriptor)
        sync_directory(held)
        return written
    finally:
        os.close(held)


def put_in_place(held: int, temporary: str, name: str, path: str, expected: os.stat_result | None) -> None:
    """Rename over the old file; a new file is linked instead, which fails when somebody else made one meanwhile."""
    if expected is not None:
        os.rename(temporary, name, src_dir_fd=held, dst_dir_fd=held)
        return
    try:
        os.link(temporary, name, src_dir_fd=held, dst_dir_fd=held, follow_symlinks=False)
    except FileExistsError:
        raise Changed(errno.EEXIST, "was created by someone else meanwhile", path) from None
    except OSError:
        os.rename(temporary, name, src_dir_fd=held, dst_dir_fd=held)
    else:
        os.unlink(temporary, dir_fd=held)


def fill(descriptor: int, data: bytes, expected: os.stat_result | None) -> None:
    """Content, then the old file's mode and owner, then on disk."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if expected is not None:
        mine = os.fstat(descriptor)
        if (expected.st_uid, expected.st_gid) != (mine.st_uid, mine.st_gid):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, expected.st_uid, expected.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(expected.st_mode))
    os.fsync(descriptor)


def check_unchanged(held: int, name: str, path: str, expected: os.stat_result | None) -> None:
    """The entry is still what the caller looked at."""
    try:
        now = os.stat(name, dir_fd=held, follow_symlinks=False)
    except FileNotFoundError:
        if expected is None:
            return
        raise Changed(errno.ENOENT, "was removed meanwhile", path) from None
    if not stat.S_ISREG(now.st_mode):
        raise NotRegular(path, now.st_mode)
    if expected is None:
        raise Changed(errno.EEXIST, "exists already", path)
    if identity(now) != identity(expected):
        raise Changed(errno.ESTALE, "changed on disk meanwhile", path)


def identity(status: os.stat_result) -> tuple[int, int, int, int]:
    """What changes when a file is replaced or written."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def sync_directory(held: int) -> None:
    """Make the new name durable; an O_PATH descriptor must be opened again for that."""
    if sys.platform != "linux":
        return
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
