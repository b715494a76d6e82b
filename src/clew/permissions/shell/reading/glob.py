"""Patterns as bash matches them against file names: its own dialect of brackets, nothing hidden unless asked for."""

import os
import re
from fnmatch import fnmatchcase

from clew.permissions.effort import entries_of, look

GLOB = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[[^\]/]*\[[:.=][^\]/]*[:.=]\][^\]/]*\]")


_MAX_PATTERN = 512


def bash_match(name: str, pattern: str) -> bool:
    """Does the pattern take this one name? Where that is unclear it does: too much rather than too little."""
    if len(pattern) > _MAX_PATTERN or len(name) > 2 * _MAX_PATTERN:
        return True
    return fnmatchcase(name, _CLASS.sub("?", pattern).replace("[^", "[!"))


def names_in(directory: str) -> list[str]:
    """The entries of a directory; none where it cannot be read."""
    return [entry.name for entry in entries_of(directory)]


def matching_names(directory: str, pattern: str) -> list[str]:
    """The entries that a pattern without slashes takes."""
    names = names_in(directory)
    look(len(names) // 8)
    return [
        name for name in names if bash_match(name, pattern) and (pattern.startswith(".") or not name.startswith("."))
    ]


def expanded(text: str, cwd: str, *, limit: int = 64) -> list[str]:
    """The files that an unquoted word becomes, up to `limit`; none means that bash leaves it as it is."""
    fronts = ["/" if text.startswith("/") else cwd]
    for part in [part for part in text.split("/") if part]:
        look(len(fronts))
        if GLOB.search(part):
            fronts = [os.path.join(front, name) for front in fronts for name in matching_names(front, part)][:limit]
        else:
            fronts = [place for front in fronts if os.path.lexists(place := os.path.join(front, part))]
    return fronts


def matches(text: str, cwd: str, *, limit: int = 2) -> int:
    """How many files an unquoted word becomes, counted up to `limit`."""
    return min(len(expanded(text, cwd)), limit)
