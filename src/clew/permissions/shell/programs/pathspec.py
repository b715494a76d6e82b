"""git's pathspecs: patterns with magic that take files of the index."""

import re

from clew.text.guarded_names import secret_name

_PATHSPEC = re.compile(r":(?:\(([^)]*)\)|([/!^]+):?)")
_WILD = re.compile(r"\[[^\]]*\]|[*?]+")


def pathspec(text: str) -> str:
    """The pattern of a pathspec without its magic; empty where it takes nothing (it only leaves files out)."""
    magic = _PATHSPEC.match(text)
    if magic is None:
        return text
    words, signs = magic[1] or "", magic[2] or ""
    excludes = "exclude" in words.split(",") or any(sign in signs for sign in "!^")
    return "" if excludes else text[magic.end() :] or "*"


def refuse_pathspec(text: str) -> str:
    """Why a pathspec that is a pattern asks for secrets by their kind, or an empty string."""
    pattern = pathspec(text)
    if not _WILD.search(pattern):
        return ""
    secret = secret_name(pattern) or secret_name(_WILD.sub("", pattern))
    return f"{secret} may hold secrets" if secret else ""
