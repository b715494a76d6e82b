"""Paths as the kernel would walk them: every component resolved, links counted, what stands there looked at."""

import os
import stat
from typing import Literal, NamedTuple

from clew.permissions.effort import look
from clew.text.lazy_pattern import LazyPattern

MAX_LINKS = 40
MAX_PATH = 4095
MAX_NAME = 255
MAX_STEPS = 512
"""Components of a path with those of all links on its way. Nothing real comes near, and each costs a look."""
_URL = LazyPattern(r"[A-Za-z][A-Za-z0-9+.-]*://|file:/")

PathProblem = Literal["", "empty", "nul", "too long", "link loop", "not a directory", "url", "other user", "drive"]
Kind = Literal["missing", "file", "directory", "link", "fifo", "socket", "device", "unreadable"]


class Resolved(NamedTuple):
    """Where a path leads. `given` is the absolute form as written, `target` the place it means."""

    given: str
    target: str
    kind: Kind
    problem: PathProblem = ""
    links: tuple[str, ...] = ()
    """Places of the links that were followed."""
    device: int = 0
    inode: int = 0
    hard_links: int = 1
    trailing_slash: bool = False


def expand_home(path: str, home: str) -> str:
    """`~` and `~/x`, as our tools accept them; nothing else is expanded or decoded."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def resolve(path: str, *, cwd: str, home: str, follow_last: bool = True) -> Resolved:
    """Walk the path component by component. Never raises, never opens anything."""
    problem = _unusable(path)
    if problem:
        return Resolved(path, path, "missing", problem)
    path = expand_home(path, home)
    given = path if path.startswith("/") else f"{cwd}/{path}"
    if len(os.fsencode(given)) > MAX_PATH or any(len(os.fsencode(part)) > MAX_NAME for part in path.split("/")):
        return Resolved(given, given, "missing", "too long")
    slash = given.endswith("/") or given.endswith("/.")
    return _walk(given, follow_last=follow_last or slash, slash=slash)


def _unusable(path: str) -> PathProblem:
    if not path:
        return "empty"
    if "\0" in path:
        return "nul"
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return "nul"
    if _URL.match(path):
        return "url"
    if path.startswith("~") and not (path == "~" or path.startswith("~/")):
        return "other user" if path[1:].split("/")[0].replace("-", "").replace("_", "").isalnum() else ""
    if path.startswith("\\\\") or (len(path) > 2 and path[0].isalpha() and path[1] == ":" and path[2] in "\\/"):
        return "drive"
    return ""


def _walk(given: str, *, follow_last: bool, slash: bool) -> Resolved:
    todo = [part for part in reversed(given.split("/")) if part and part != "."]
    done: list[str] = []
    links: list[str] = []
    steps = len(todo)
    if steps > MAX_STEPS:
        return Resolved(given, given, "missing", "too long")
    look(steps)
    info: os.stat_result | None = None
    kind: Kind = "directory"
    while todo:
        part = todo.pop()
        if part == "..":
            if kind not in ("directory", "missing", "unreadable"):
                return Resolved(given, "/" + "/".join(done), kind, "not a directory", tuple(links))
            if done:
                done.pop()
            kind, info = "directory", None
            continue
        if kind not in ("directory", "missing", "unreadable"):
            return Resolved(given, "/" + "/".join([*done, part]), "missing", "not a directory", tuple(links))
        place = "/" + "/".join([*done, part])
        info = None
        if kind == "directory":
            kind, info = _look(place)
        if kind == "link" and (todo or follow_last):
            links.append(place)
            if len(links) > MAX_LINKS:
                return Resolved(given, place, "link", "link loop", tuple(links[:3]))
            aim = _aim(place)
            if aim.startswith("/"):
                done = []
            ahead = [step for step in reversed(aim.split("/")) if step and step != "."]
            steps += len(ahead)
            if steps > MAX_STEPS:
                return Resolved(given, given, "missing", "too long")
            look(len(ahead))
            todo += ahead
            kind = "directory"
            continue
        done.append(part)
    target = "/" + "/".join(done)
    if info is None and kind == "directory":
        kind, info = _look(target)
    if slash and kind not in ("directory", "missing", "unreadable"):
        return Resolved(given, target, kind, "not a directory", tuple(links), trailing_slash=True)
    device, inode, hard = (info.st_dev, info.st_ino, info.st_nlink) if info else (0, 0, 1)
    return Resolved(given, target, kind, "", tuple(links), device, inode, hard if kind == "file" else 1, slash)


def _aim(place: str) -> str:
    try:
        return os.readlink(place)
    except OSError:
        return "/\ufffdunreadable link"


def _look(place: str) -> tuple[Kind, os.stat_result | None]:
    try:
        info = os.lstat(place)
    except FileNotFoundError:
        return "missing", None
    except (OSError, ValueError):
        return "unreadable", None
    mode = info.st_mode
    if stat.S_ISREG(mode):
        return "file", info
    if stat.S_ISDIR(mode):
        return "directory", info
    if stat.S_ISLNK(mode):
        return "link", info
    if stat.S_ISFIFO(mode):
        return "fifo", info
    return ("socket" if stat.S_ISSOCK(mode) else "device"), info


def beneath(path: str, root: str) -> bool:
    """The path is the root or lies under it, by whole components."""
    return path == root or root == "/" or path.startswith(root + "/")


def real(path: str) -> str:
    """The canonical place of a path; where a link on its way may not be read, the path as it is written from there."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        # Python reads the links of other processes' /proc unguarded. The lexical path is what can still be told.
        return os.path.normpath(path) if path.startswith("/") else os.path.abspath(path)
