"""What file tools share: targets fixed before they are judged, and words for what went wrong."""

import errno
import hashlib
import os

from clew.permissions.access import Access, FileAccess, FileOp
from clew.system.files import Changed, NotRegular, read_regular
from clew.tools.base import ToolContext, ToolResult
from clew.tools.extras import text_diff
from clew.tools.session import ReadState, ToolSession

MAX_LISTED = 5_000
MAX_LOOKED_AT_BYTES = 50_000_000


def file_accesses(session: ToolSession, context: ToolContext, op: FileOp, path: str) -> tuple[Access, ...]:
    """The path as written and, when links lead elsewhere, its real target. `run` touches only that target."""
    given = session.locate(path, context.cwd)
    (target,) = session.claim(context.call_id, given)
    written = FileAccess(op=op, path=path, cwd=context.cwd)
    if target == given:
        return (written,)
    return (written, FileAccess(op=op, path=target, cwd=context.cwd))


def problem(text: str) -> ToolResult:
    """An expected failure."""
    return ToolResult(text=text, is_error=True)


def describe_os_error(error: OSError, path: str, *, doing: str) -> ToolResult:
    """What happened, and what to do next, for the model."""
    if isinstance(error, NotRegular):
        hint = " Use Glob or `ls` to list it." if error.is_directory else " Nothing was opened."
        return problem(f"{path} {error.strerror}.{hint}")
    if isinstance(error, Changed):
        return problem(f"{path} {error.strerror}; nothing was written. Read it again first.")
    if error.errno == errno.ENOENT:
        return missing(path)
    if error.errno in (errno.EACCES, errno.EPERM):
        return problem(f"Permission denied {doing} {path}.")
    if error.errno == errno.ELOOP:
        return problem(f"{path} leads through a symbolic link that changed or loops; nothing was opened.")
    if error.errno == errno.ENOTDIR:
        return problem(f"A part of {path} is not a directory (or is a symbolic link that just changed).")
    if error.errno == errno.ENAMETOOLONG:
        return problem(f"The path is too long: {path[:200]}…")
    return problem(f"Error {doing} {path}: {error.strerror or error}.")


def missing(path: str) -> ToolResult:
    """Say what is missing, and the nearest name that exists."""
    parent = os.path.dirname(path) or "/"
    while parent != "/" and not os.path.isdir(parent):
        path, parent = parent, os.path.dirname(parent)
    words = f"{path} does not exist."
    near = nearest(parent, os.path.basename(path))
    if near:
        words += " Did you mean " + " or ".join(os.path.join(parent, name) for name in near) + "?"
    else:
        words += f" The nearest existing directory is {parent}."
    return problem(words)


def nearest(directory: str, name: str) -> list[str]:
    """Existing names that look like the one asked for."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_LISTED), strict=False)]
    except OSError:
        return []
    return text_diff().nearest_names(name, names)


def state_of(status: os.stat_result, digest: bytes) -> ReadState:
    """What to remember of a file the model has just seen or written."""
    return ReadState(mtime_ns=status.st_mtime_ns, size=status.st_size, inode=status.st_ino, digest=digest)


def digest_of(data: bytes) -> bytes:
    """Sixteen bytes that stand for the content of a file."""
    return hashlib.blake2b(data, digest_size=16).digest()


def unread(session: ToolSession, path: str, context: ToolContext) -> ToolResult | None:
    """That a file of the workspace is there and was not read, or not since it changed. Of a file elsewhere that the
    model never read nothing is told, not even whether there is one."""
    target = session.known_target(path, context.cwd)
    if not target:
        return None
    try:
        old = read_regular(target, max_bytes=MAX_LOOKED_AT_BYTES)
    except OSError:
        return None  # what is wrong is told where it is tried
    why = stale(session, target, old.status, old.data) if old.data else ""
    return problem(why) if why else None


def stale(session: ToolSession, target: str, status: os.stat_result, data: bytes) -> str:
    """Why the file may not be written yet; empty when the model has seen exactly this content."""
    seen = session.last_seen(target)
    if seen is None:
        return f"{target} has not been read in this session. Read it before changing it."
    if (seen.mtime_ns, seen.size, seen.inode) == (status.st_mtime_ns, status.st_size, status.st_ino):
        return ""
    if seen.digest and seen.digest == digest_of(data):
        return ""
    return f"{target} changed on disk since it was read. Read it again before changing it."
