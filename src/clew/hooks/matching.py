"""Whether a hook is meant: its matcher against the name of a tool, or what else tells its moment apart."""

import re
from functools import lru_cache

from clew.text.safe_patterns import BadPattern, compiled

MAX_SUBJECT_CHARS = 300
_PLAIN = re.compile(r"[\w\- ,|]*", re.ASCII)
ALSO_CALLED = {
    "AskUser": ("AskUserQuestion",),
    "Edit": ("MultiEdit",),
    "Agent": ("Task",),
    "TaskStop": ("KillShell", "KillBash"),
    "TaskOutput": ("BashOutput",),
}
"""Our tools that users of Claude Code know under another name too."""


def matches(matcher: str, subject: str) -> bool:
    """Nothing and `*` match all; plain words, several with `|` or `,`, match whole names; anything else is a regular
    expression and may match anywhere in the name. One that cannot be understood matches nothing."""
    matcher = matcher.strip()
    if matcher in ("", "*"):
        return True
    names = (subject, *ALSO_CALLED.get(subject, ()))
    if _PLAIN.fullmatch(matcher):
        return not _words(matcher).isdisjoint(names)
    try:
        test = _test(matcher)
    except BadPattern:
        return False
    return any(test(name[:MAX_SUBJECT_CHARS]) for name in names)


def problem_with(matcher: str) -> str:
    """Why a matcher matches nothing; empty: it is understood."""
    matcher = matcher.strip()
    if matcher == "*":
        return ""
    if _PLAIN.fullmatch(matcher):
        return "" if not matcher or _words(matcher) else "names nothing"
    try:
        _test(matcher)
    except BadPattern as problem:
        return str(problem)
    return ""


def _words(matcher: str) -> set[str]:
    return {word.strip() for word in re.split(r"[|,]", matcher)} - {""}


_test = lru_cache(maxsize=256)(compiled)
