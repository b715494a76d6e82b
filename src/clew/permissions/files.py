"""What a file operation would touch: the place itself, before modes and rules have a say (F1-F4, S3, P9)."""

import os

from msgspec import Struct

from clew.permissions.access import Decision, FileOp
from clew.permissions.effort import look
from clew.permissions.own_state import own_state, private_inodes, sealed_inodes
from clew.permissions.paths import Resolved, beneath, resolve
from clew.system.home import own_installation
from clew.text.guarded_names import (
    CRITICAL,
    has_secret_shape,
    home_credential,
    may_have_secret_shape,
    odd_name,
    program_place,
    protected_name,
    secret_name,
)
from clew.text.lazy_pattern import LazyPattern

_DISKS = LazyPattern(
    r"/dev/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|rdisk\d|dm-\d|md\d|loop\d|mapper/|disk/|block/|sr\d|fd\d$|mem$|kmem$|port$)"
)
_SHAPE_BYTES = 16_384
_PROC_SEALED = LazyPattern(
    r"/proc/(?:[^/]+/(?:task/[^/]+/)?(?:mem|fd|fdinfo|map_files|environ|auxv)\b|kcore|kmem|sysrq-trigger)"
)


class Places(Struct, frozen=True, kw_only=True):
    """The directories a judgement is about. All are resolved; roots come from the user, never from the model (S2)."""

    roots: tuple[str, ...]
    home: str
    clew_home: str
    opened: frozenset[str] = frozenset()
    """Files with a secret's name that the user lets be read, each by a rule of its own."""

    def inside(self, path: str) -> str:
        """The root that holds a resolved path, or an empty string."""
        return next((root for root in self.roots if beneath(path, root)), "")


class Finding(Struct, frozen=True, kw_only=True):
    """What a place is. `allow` means: an ordinary file of the workspace."""

    decision: Decision
    why: str
    absolute: bool = False
    """A deny that no mode and no rule lifts."""
    protected: bool = False
    """An ask that only a person's answer lifts: not acceptEdits, not bypass, not an allow rule."""
    by_name: bool = False
    """Protected because of what it is called, whatever lies there."""
    error: bool = False
    """A deny because the operation cannot work, not because it must not."""
    target: str = ""


def is_disk(path: str) -> bool:
    """A device whose overwriting destroys a system."""
    return _DISKS.match(os.path.normpath(path)) is not None


_PROBLEMS = {
    "empty": "the path is empty",
    "nul": "the path holds a NUL byte or cannot be encoded",
    "too long": "the path is longer than the system allows",
    "link loop": "the path is a loop of links",
    "not a directory": "a part of the path is a file, not a directory",
}
_UNCLEAR = {
    "url": "a URL is not a path",
    "other user": "the path names another user's home",
    "drive": "the path names a drive or a network share",
}


def judge_place(op: FileOp, path: str, cwd: str, places: Places) -> Finding:
    """Look at one path. Nothing is changed, and nothing opened but the beginning of a file of settings."""
    place = resolve(path, cwd=cwd, home=places.home, follow_last=op != "delete")
    if place.problem in _PROBLEMS:
        return Finding(decision="deny", why=_PROBLEMS[place.problem], error=True)
    if place.problem:
        return Finding(decision="ask", why=_UNCLEAR[place.problem])
    writes = op in ("write", "delete")
    lexical = os.path.normpath(place.given)
    for finding in (
        _own(place, lexical, writes=writes, places=places),
        _special(op, place, lexical),
        _shape(op, place, places),
    ):
        if finding is not None:
            return finding
    return _ordinary(op, path, place, lexical, places)


def judge_change(op: FileOp, path: str, cwd: str, places: Places) -> Finding:
    """As `judge_place` for programs that take a directory where our tools would not: what they put there counts."""
    found = judge_place(op, path, cwd, places)
    if op != "write" or not found.error:
        return found
    is_directory = resolve(path, cwd=cwd, home=places.home).kind in ("directory", "missing")
    return judge_place(op, f"{path.rstrip('/')}/x", cwd, places) if is_directory and path else found


def _own(place: Resolved, lexical: str, *, writes: bool, places: Places) -> Finding | None:
    for path in (place.target, lexical):
        state = own_state(path, places.clew_home)
        if state == "sealed" or (writes and state in ("record", "root")):
            return Finding(decision="deny", why="this is clew's own state; it changes only through clew", absolute=True)
        if state and (writes or state != "content"):  # what a person keeps there is read like any file outside
            return Finding(decision="ask", why="this belongs to clew's own files", protected=True)
    if writes and any(beneath(path, own) for path in (place.target, lexical) for own in own_installation()):
        return Finding(
            decision="ask", why="this is where clew itself is installed", protected=True, target=place.target
        )
    if place.hard_links > 1 and (place.device, place.inode) in sealed_inodes(places.clew_home):
        return Finding(decision="deny", why="this is clew's own state under another name", absolute=True)
    return None


def _special(op: FileOp, place: Resolved, lexical: str) -> Finding | None:
    paths = (place.target, lexical)
    if any(is_disk(path) for path in paths):
        return Finding(decision="deny", why="this is a disk or memory device", absolute=op in ("write", "delete"))
    if any(_PROC_SEALED.match(path) for path in (*paths, *place.links)):
        return Finding(decision="deny", why="this shows memory, descriptors or environments of processes")
    if any(beneath(path, "/proc") or beneath(path, "/sys") for path in (*paths, *place.links)):
        return Finding(decision="ask", why="this is a view into the running system", protected=op != "read")
    if place.target == "/dev/null":
        return Finding(decision="ask", why="this is the null device, not a file")
    if any(beneath(path, "/dev") and not beneath(path, "/dev/shm") for path in paths):
        return Finding(decision="deny", why="this is a device or an inherited descriptor")
    return None


def _shape(op: FileOp, place: Resolved, places: Places) -> Finding | None:
    if place.kind in ("fifo", "socket", "device") and op != "list":
        why = f"this is a {place.kind}: opening it may wait forever or talk to another program"
        return Finding(decision="ask" if op == "delete" else "deny", why=why, error=op != "delete")
    if op == "write" and (place.kind == "directory" or place.trailing_slash):
        return Finding(decision="deny", why="this is a directory, not a file", error=True)
    if op == "delete" and (place.target in CRITICAL or beneath(places.home, place.target)):
        return Finding(decision="deny", why="this is the system or a home directory", absolute=True)
    return None


def _looks_secret(path: str) -> bool:
    """A file of `KEY=value` lines with a secret among them, under any name."""
    if not may_have_secret_shape(os.path.basename(path)):
        return False
    look(2)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        data = os.read(descriptor, _SHAPE_BYTES)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    # A last line that was cut off is no reason to believe anything of the file.
    return has_secret_shape(data if len(data) < _SHAPE_BYTES else data.rpartition(b"\n")[0])


def _ordinary(op: FileOp, path: str, place: Resolved, lexical: str, places: Places) -> Finding:
    writes = op in ("write", "delete")
    root = places.inside(place.target)
    name = place.target[len(root) :] if root else place.target
    given_root = places.inside(lexical)
    given_name = lexical[len(given_root) :] if given_root else lexical
    target = place.target
    if odd := odd_name(path) or odd_name(target):
        return Finding(decision="ask", why=odd, protected=writes, target=target)
    if writes:
        if guarded := protected_name(name) or protected_name(given_name):
            return Finding(
                decision="ask",
                why=f"{guarded} can run programs or steer tools",
                protected=True,
                by_name=True,
                target=target,
            )
        if program_place(name) or program_place(given_name):
            why = "programs that are started by name lie here"
            return Finding(decision="ask", why=why, protected=True, target=target)
        if place.hard_links > 1:
            return Finding(
                decision="ask", why="the file has a second name elsewhere (hard link)", protected=True, target=target
            )
        if op == "delete" and (place.kind == "directory" or place.target in places.roots):
            return Finding(decision="ask", why="this deletes a whole directory", target=target)
    elif target not in places.opened and (secret := secret_name(name) or secret_name(given_name)):
        return Finding(decision="ask", why=f"{secret} may hold secrets", protected=True, target=target)
    elif not root and target not in places.opened and (kept := home_credential(target, places.home)):
        why = f"~/{kept} keeps credentials or another program's private state"
        return Finding(decision="ask", why=why, protected=True, target=target)
    elif op == "read" and place.kind == "file" and target not in places.opened and _looks_secret(target):
        why = "the file consists of settings, and one of them looks like a secret"
        return Finding(decision="ask", why=why, protected=True, target=target)
    elif place.hard_links > 1 and (place.device, place.inode) in private_inodes(places.home):
        return Finding(decision="ask", why="this is a credential under another name", protected=True, target=target)
    if root:
        return Finding(decision="allow", why="inside the workspace", target=target)
    why = "a link leads out of the workspace" if given_root else "outside the workspace"
    return Finding(decision="ask", why=why, target=target)
