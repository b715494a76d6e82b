"""clew's own state among the words of a command, through links, patterns and `flag=path` (P9)."""

import os

from clew.permissions.effort import look
from clew.permissions.files import Places
from clew.permissions.own_state import OwnState, own_state
from clew.permissions.shell.reading.glob import GLOB, bash_match
from clew.permissions.shell.reading.values import Value


def absolute(text: str, cwd: str | None) -> str:
    """The path a word means, without following links; empty where the directory is not known."""
    # "$/home/x" is a variable that lost its name; taking it for the path behind it is the safe guess.
    text = text.removeprefix("$") if text.startswith("$/") else text
    if text.startswith("/"):
        return "/" + os.path.normpath(text).lstrip("/")
    return os.path.normpath(os.path.join(cwd, text)) if cwd is not None and text else ""


class OwnWords:
    """Remembers what each word means, so that a text pays once for each."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._seen: dict[tuple[Value, str | None], OwnState] = {}

    def state(self, value: Value, cwd: str | None) -> OwnState:
        """What the word is to clew; raises TooMuchWork where a text has absurdly many."""
        key = (value, cwd)
        known = self._seen.get(key)
        if known is None:
            known = self._look(value, cwd)
            self._seen[key] = known
        return known

    def _look(self, value: Value, cwd: str | None) -> OwnState:
        for text in _candidates(value.text):
            text = self._places.home + text[1:] if text.startswith("~/") else text
            path = absolute(text, cwd)
            if not path or path == "/" or len(path) > 4096:
                continue
            if value.globs and GLOB.search(path):
                if found := self._by_pattern(path):
                    return found
                continue
            if found := own_state(path, self._places.clew_home):
                return found
            look()
            if "/" in text or os.path.islink(path):
                look(path.count("/"))
                if found := own_state(os.path.realpath(path), self._places.clew_home):
                    return found
        return ""

    def _by_pattern(self, path: str) -> OwnState:
        """Whether a pattern can reach into clew's home: each of its components is matched by itself."""
        parts = path.strip("/").split("/")
        home = self._places.clew_home.strip("/").split("/")
        if len(parts) < len(home) or not all(map(_takes, parts, home)):
            return ""
        rest = parts[len(home) :]
        if not rest:
            return "root"
        if not GLOB.search(rest[0]):
            return own_state("/".join(["", *home, *rest]), self._places.clew_home)
        return "sealed"


def _takes(pattern: str, name: str) -> bool:
    """A pattern takes a hidden name only if it begins with the dot itself."""
    return bash_match(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _candidates(text: str) -> list[str]:
    """The word itself, and what stands behind `=`, `@` or a one-letter flag in it."""
    found = [text]
    if "=" in text:
        found.append(text.partition("=")[2])
    if text.startswith("@"):
        found.append(text[1:])
    if text.startswith("-") and len(text) > 2 and text[2] in "/~.":
        found.append(text[2:])
    return found
