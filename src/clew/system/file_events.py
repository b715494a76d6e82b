"""Which names changed in watched directories, as the kernel tells it (inotify)."""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE = 0x2, 0x4, 0x8
IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x40, 0x80, 0x100, 0x200
IN_DELETE_SELF, IN_MOVE_SELF = 0x400, 0x800
IN_Q_OVERFLOW, IN_IGNORED = 0x4000, 0x8000
IN_ONLYDIR = 0x1000000
SELF_GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | 0x2000  # 0x2000: its file system was unmounted
WATCHED = (
    IN_MODIFY
    | IN_ATTRIB
    | IN_CLOSE_WRITE
    | IN_MOVED_FROM
    | IN_MOVED_TO
    | IN_CREATE
    | IN_DELETE
    | IN_DELETE_SELF
    | IN_MOVE_SELF
    | IN_ONLYDIR
)
_HEADER = struct.Struct("iIII")
_READ_BYTES = 1 << 20
_MAX_READS = 16


class FileEvent(NamedTuple):
    """Something happened to `name` in the directory of `watch`, or to the directory itself (`name` empty)."""

    watch: int
    mask: int
    name: str

    @property
    def overflowed(self) -> bool:
        """The kernel dropped events: only a scan can tell now."""
        return bool(self.mask & IN_Q_OVERFLOW)

    @property
    def own(self) -> bool:
        """The directory itself went or moved."""
        return bool(self.mask & SELF_GONE)


class FileEvents:
    """An inotify queue. Nobody needs to drain it: what does not fit is told as an overflow."""

    def __init__(self) -> None:
        """Raises OSError where the system has no inotify or no instance left."""
        if sys.platform != "linux":
            raise OSError(errno.ENOSYS, "no inotify on this system")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _last_error("inotify_init1")

    def add(self, directory: int) -> int:
        """Watch an open directory; the number that its events carry. Raises OSError (ENOSPC: no watch left).

        By descriptor, not by name: a link swapped in meanwhile is never followed."""
        watch = self._libc.inotify_add_watch(self._descriptor, b"/proc/self/fd/%d" % directory, WATCHED)
        if watch < 0:
            raise _last_error("inotify_add_watch")
        return watch

    def remove(self, watch: int) -> None:
        """Stop watching. A watch that the kernel dropped already is no error."""
        self._libc.inotify_rm_watch(self._descriptor, watch)

    def read(self) -> Iterator[FileEvent]:
        """What has happened since the last call; never waits, and ends also while a program writes without pause."""
        for _ in range(_MAX_READS):
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return
            offset = 0
            while offset < len(data):
                watch, mask, _, length = _HEADER.unpack_from(data, offset)
                offset += _HEADER.size
                name = data[offset : offset + length].rstrip(b"\0")
                offset += length
                yield FileEvent(watch, mask, os.fsdecode(name))
        yield FileEvent(-1, IN_Q_OVERFLOW, "")

    def close(self) -> None:
        """All watches go with the queue."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _last_error(call: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{call}: {os.strerror(number)}")
