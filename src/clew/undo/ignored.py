"""Which directories hold what can be made again: those that git ignores by a plain name, and marked caches.

They are scanned last and with a smaller cap on file size, so that a huge `node_modules` never costs the coverage of the
sources. Only names without wildcards are read from `.gitignore`: a set lookup, where a hostile pattern could not cost
time. A directory that is missed here is only treated as any other.
"""

import os
from typing import NamedTuple

CACHE_TAG = "CACHEDIR.TAG"
_MAX_BYTES = 256 * 1024
_WILD = frozenset("*?[\\")


class Rules(NamedTuple):
    """The plain names of one `.gitignore`: anywhere below it, and as paths relative to it."""

    names: frozenset[str]
    paths: frozenset[str]


NO_RULES = Rules(frozenset(), frozenset())


def read_rules(folder: int) -> Rules:
    """Of an open directory; a link or anything unreadable has no rules."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        descriptor = os.open(".gitignore", flags, dir_fd=folder)
    except OSError:
        return NO_RULES
    try:
        text = os.read(descriptor, _MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return NO_RULES
    finally:
        os.close(descriptor)
    names: set[str] = set()
    paths: set[str] = set()
    for line in text.splitlines():
        pattern = line.rstrip()
        taken_back = pattern.startswith("!")
        pattern = pattern[1:] if taken_back else pattern
        if not pattern or pattern.startswith("#") or _WILD & set(pattern):
            continue
        plain = pattern.strip("/")
        chosen = paths if "/" in pattern.rstrip("/") else names
        (chosen.discard if taken_back else chosen.add)(plain)
    return Rules(frozenset(names - {""}), frozenset(paths - {""}))


def is_ignored(path: str, rules: dict[str, Rules], root: str) -> bool:
    """Whether a rule of a directory above names this directory. Its parents were asked before."""
    name = os.path.basename(path)
    at = os.path.dirname(path)
    while True:
        found = rules.get(at)
        if found is not None and (name in found.names or path[len(at) + 1 :] in found.paths):
            return True
        if at == root or len(at) <= len(root):
            return False
        at = os.path.dirname(at)
