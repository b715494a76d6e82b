"""The process behind a call that the filter handed over: memory, directories, mask. Standard library only."""

import ctypes
import errno
import os

from clew.system.sandbox import kernel

AT_FDCWD = -100
PATH_BYTES = 4096
OWN_FILES = {b"/dev/stdin": b"0", b"/dev/stdout": b"1", b"/dev/stderr": b"2"}


class Caller:
    """The process that made a call: its memory, its directories, its mask."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def path(self, address: int) -> bytes:
        """A path, copied once."""
        data = kernel.read_memory(self.pid, address, PATH_BYTES)
        text, end, _ = data.partition(b"\0")
        if not end:
            raise OSError(errno.ENAMETOOLONG, "the path has no end")
        return text

    def directory(self, number: int) -> int:
        """The directory that a relative path starts from."""
        number = ctypes.c_int(number & 0xFFFFFFFF).value
        place = f"/proc/{self.pid}/cwd" if number == AT_FDCWD else f"/proc/{self.pid}/fd/{number}"
        try:
            return os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise OSError(errno.EBADF, "no such descriptor") from None

    def own(self, path: bytes) -> bytes:
        """Names that mean the caller itself would here mean us."""
        if path in OWN_FILES:
            return b"/proc/%d/fd/%s" % (self.pid, OWN_FILES[path])
        for head, meant in ((b"/proc/self/", b""), (b"/proc/thread-self/", b""), (b"/dev/fd/", b"fd/")):
            if path.startswith(head):
                return b"/proc/%d/%s%s" % (self.pid, meant, path[len(head) :])
        return path

    def status(self, field: bytes) -> bytes:
        """One value of what the kernel tells about it."""
        descriptor = os.open(f"/proc/{self.pid}/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, PATH_BYTES).partition(b"\n" + field)[2].split(None, 1)[0]
        finally:
            os.close(descriptor)

    def lend_mask(self) -> None:
        """What we make next has the rights that the caller would have given it."""
        os.umask(int(self.status(b"Umask:"), 8))


def split(base: int, path: bytes) -> tuple[int, bytes]:
    """The directory of a path by descriptor, links on the way followed, and the last part, with its slash if any."""
    if not path:
        raise FileNotFoundError(errno.ENOENT, "an empty path")
    bare = path.rstrip(b"/")
    head, slash, name = bare.rpartition(b"/")
    if not bare:
        head, slash, name = b"", b"/", b"."
    if slash:
        head = head or b"/"
    elif base >= 0:
        head = b"."
    parent = os.open(head, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=None if path.startswith(b"/") else base)
    return parent, name + (b"/" if bare and len(path) > len(bare) else b"")


def exists(parent: int, name: bytes) -> bool:
    """Itself, not what it leads to."""
    try:
        os.stat(name.rstrip(b"/") or b".", dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def process_views() -> frozenset[int]:
    """The device numbers of every /proc there is."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        words = [line.split() for line in file]
    numbers = [line[2].split(":") for line in words if line[line.index("-") + 1] == "proc"]
    return frozenset(os.makedev(int(major), int(minor)) for major, minor in numbers)
