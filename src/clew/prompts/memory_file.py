"""Reading one memory file without being led astray: not outside its bounds, no devices, no binaries, no hidden text."""

import os
import re
import stat
from pathlib import Path

from msgspec import Struct

from clew.system.files import open_directory
from clew.text.guarded_names import secret_name

MAX_FILE_BYTES = 32_000

# Characters that people do not see and models do read. Joiners stay: several scripts and emoji need them.
_INVISIBLE = (
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


class MemoryFileError(Exception):
    """A file that is left out; the message says why, in a few words."""


class MemoryText(Struct, frozen=True, kw_only=True):
    """The readable content of one file."""

    text: str
    identity: tuple[int, int]
    """Device and inode."""
    real_path: str
    notes: tuple[str, ...] = ()


def read_memory_file(path: Path, *, within: Path | None) -> MemoryText | None:
    """The text of a file; None when it does not exist.

    `within` is the directory that the file, every link followed, must lie in. None: anywhere, for the user's own.
    """
    real = os.path.realpath(path)
    if not os.path.lexists(path):
        return None
    if within is not None:
        _check_bounds(path, real, os.path.realpath(within))
    data, info = _read(real)
    if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MemoryFileError("is binary")
    notes: list[str] = []
    if info.st_size > MAX_FILE_BYTES:
        notes.append(f"only the first {MAX_FILE_BYTES // 1000} kB of {info.st_size // 1000} kB are used")
    text = _decode(data, notes)
    shown = visible(text)
    if len(shown) != len(text):
        notes.append(f"{len(text) - len(shown)} invisible characters removed")
    identity = (info.st_dev, info.st_ino)
    return MemoryText(text=shown.strip(), identity=identity, real_path=real, notes=tuple(notes))


def visible(text: str) -> str:
    """The text without characters that people do not see and models do read."""
    return re.sub(_INVISIBLE, "", text)


def _check_bounds(path: Path, real: str, root: str) -> None:
    if not (real == root or real.startswith(root.rstrip("/") + "/")):
        link = " through a link" if os.path.normpath(path).startswith(root) else ""
        raise MemoryFileError(f"leads outside the project{link}")
    inside = os.path.relpath(real, root)
    if ".git" in inside.split("/") or secret_name(inside):
        raise MemoryFileError("may hold secrets")


def _read(real: str) -> tuple[bytes, os.stat_result]:
    folder, name = os.path.split(real)
    try:
        # The path is already resolved: a link anywhere in it now is a swap, not a convenience (F2).
        held = open_directory(folder)
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=held)
        finally:
            os.close(held)
    except FileNotFoundError:
        raise MemoryFileError("is a broken link") from None
    except OSError as error:
        raise MemoryFileError(f"cannot be read ({(error.strerror or 'error').lower()})") from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise MemoryFileError("is a directory" if stat.S_ISDIR(info.st_mode) else "is not a regular file")
        return os.read(descriptor, MAX_FILE_BYTES), info
    except OSError as error:
        raise MemoryFileError(f"cannot be read ({(error.strerror or 'error').lower()})") from error
    finally:
        os.close(descriptor)


def _decode(data: bytes, notes: list[str]) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) - error.start < 4 and len(data) == MAX_FILE_BYTES:
            return data[: error.start].decode("utf-8-sig")  # the cut went through a character
        notes.append("is not UTF-8; unreadable bytes are shown as \ufffd")
        return data.decode("utf-8-sig", errors="replace")
