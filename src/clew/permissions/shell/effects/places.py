"""Places that no command may destroy (P9): the system, homes, disks, clew's own; and which paths a word means."""

import os
import re

from clew.permissions.effort import look
from clew.permissions.files import Places, is_disk
from clew.permissions.paths import beneath, real
from clew.permissions.shell.reading.glob import bash_match
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import CRITICAL

_MAX_PATH = 4096
_CATCH_ALL = re.compile(r"[*?.!\[\]^]*\*[*?]*|\.\*|\?+|\.\?\*|\.\[[^\]]*\]\*|\{[^}]*\*[^}]*\}")
_PATTERN = re.compile(r"\[[^\]]*\]|[*?]+")
_MAGIC = re.compile(r"/+proc/+([^/]+)(?:/+task/+[^/]+)?/+(root|cwd)(?=/|$)")
_OWN_PROCESS = ("self", "thread-self")
# Writing here halts the machine, reads or changes memory, or names a program that the kernel starts.
_KERNEL = re.compile(
    r"/proc/(?:sysrq-trigger|kcore|kmem|(?:[^/]+/)(?:task/[^/]+/)?mem|sys/kernel/|sys/fs/binfmt_misc/|acpi/|bus/)"
)

Links = dict[str, str]
"""Links that the text itself makes: where each lies and what it leads to."""


def absolute(text: str, cwd: str | None) -> str:
    """The path a word means, without following links; empty where the directory is not known."""
    joined = _joined(text, cwd)
    return "/" + os.path.normpath(joined).lstrip("/") if joined else ""


def _joined(text: str, cwd: str | None) -> str:
    # "$/home/x" is a variable that lost its name; taking it for the path behind it is the safe guess.
    text = text.removeprefix("$") if text.startswith("$/") else text
    if text.startswith("/"):
        return text
    return os.path.join(cwd, text) if cwd is not None and text else ""


def meanings(text: str, cwd: str | None, links: Links, *, looks: bool, follow: bool = True) -> list[str]:
    """The paths that a word may mean: as written, through /proc's own links, through links of the text, and (with
    `looks`) through those on disk. Raises TooMuchWork with `looks` only."""
    joined = _joined(text, cwd)
    if not joined or len(joined) > _MAX_PATH:
        return []
    found = ["/" + os.path.normpath(joined).lstrip("/")]
    if magic := _MAGIC.match(joined):
        inside = joined[magic.end() :]
        if magic[2] == "root":
            found.append(absolute(inside or "/", "/"))
        elif magic[1] in _OWN_PROCESS and cwd is not None:
            found.append(absolute(f"{cwd}/{inside}", "/"))
    for place, target in links.items():
        if beneath(found[0], place):
            found.append(absolute(target + found[0][len(place) :], "/"))
    if looks and follow:
        look(joined.count("/"))
        found.append(real(joined))
    return list(dict.fromkeys(found))


def is_critical(path: str, places: Places) -> bool:
    """The path is the system, a home or clew's own, or holds one."""
    if path in CRITICAL or os.path.dirname(path) in ("/home", "/Users"):
        return True
    return beneath(places.home, path) or beneath(places.clew_home, path)


def reaches_critical(value: Value, cwd: str | None, places: Places, links: Links, *, looks: bool) -> bool:
    """The word is, holds, or by its pattern reaches a place that must not be lost."""
    if not value.known:
        return False
    if not value.globs:
        return any(is_critical(path, places) for path in meanings(value.text, cwd, links, looks=looks))
    paths = meanings(value.text, cwd, links, looks=False)
    return any(_critical_pattern(path, places, looks=looks) for path in paths)


def _critical_pattern(path: str, places: Places, *, looks: bool) -> bool:
    parts = path.split("/")
    first = next((index for index, part in enumerate(parts) if re.search(r"[*?\[{]", part)), len(parts))
    base = "/".join(parts[:first]) or "/"
    rest = parts[first:]
    if rest and all(_CATCH_ALL.fullmatch(part) for part in rest):
        if is_critical(base, places):
            return True
        if looks:
            look(first)
            if is_critical(real(base), places):
                return True
    reached = (*CRITICAL, places.home, places.clew_home)
    return any(len(one.split("/")) == len(parts) and bash_match(one, path) for one in reached)


def names_disk(text: str, cwd: str | None) -> bool:
    """A pattern means the disks it matches, whatever they are called here."""
    path = absolute(text, cwd)
    if not path.startswith("/dev"):
        return False
    return any(is_disk(_PATTERN.sub(letter, path)) for letter in ("a", "0", "0n1"))


def names_kernel(text: str, cwd: str | None) -> bool:
    """A file of /proc that makes the kernel halt, write memory or start programs."""
    return _KERNEL.match(absolute(text, cwd) + "/") is not None or _KERNEL.match(absolute(text, cwd)) is not None
