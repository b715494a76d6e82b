"""What stands at a path of a project, as bytes that change when it does: for digests that a person approves by."""

import hashlib
import os
import stat

MAX_FILE_BYTES = 8_000_000
MAX_TOTAL_BYTES = 32_000_000
READ_BYTES = 1 << 18


def content_at(path: str, place: str, max_bytes: int) -> tuple[bytes, int]:
    """What stands at a path, as bytes that change when it does, and how much was read of it. A link is told by its
    target, and by what lies there if that is inside the project."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return b"", 0
    if not is_inside(os.path.realpath(os.path.dirname(path)), place):
        return b"elsewhere\0" + os.fsencode(os.path.realpath(path)), 0
    if stat.S_ISLNK(info.st_mode):
        target = os.path.realpath(path)
        inner, size = content_at(target, place, max_bytes) if is_inside(target, place) and target != path else (b"", 0)
        return b"link\0" + os.fsencode(target) + b"\0" + inner, size
    if stat.S_ISDIR(info.st_mode):
        return b"directory", 0
    if not stat.S_ISREG(info.st_mode):
        return b"special", 0
    return _file_content(path, max_bytes)


def _file_content(path: str, max_bytes: int) -> tuple[bytes, int]:
    """Beyond the bound, size and times stand for the content."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b"unreadable", 0
    summary, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return b"special", 0
        if info.st_size > max_bytes:
            return f"large {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}".encode(), 0
        while size <= max_bytes and (piece := file.read(READ_BYTES)):
            summary.update(piece)
            size += len(piece)
    return b"file\0" + summary.digest(), size


def is_inside(path: str, place: str) -> bool:
    """Whether a path is a place or below it, by its spelling."""
    return path == place or path.startswith(place.rstrip("/") + "/")
