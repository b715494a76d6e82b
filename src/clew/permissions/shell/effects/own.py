"""clew's own state among the words of a command, through links, patterns and `flag=path` (P9)."""

import os
from itertools import pairwise

from clew.permissions.files import Places
from clew.permissions.own_state import OwnState, own_state
from clew.permissions.shell.effects.places import Links, absolute, meanings
from clew.permissions.shell.programs.table import program
from clew.permissions.shell.reading.glob import GLOB, bash_match
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import word_set

_READS_CONTENT = word_set("""less more bat clew""")
_MAX_PATH = 4096


class OwnWords:
    """Remembers what each word means, so that a text pays once for each."""

    def __init__(self, places: Places, links: Links) -> None:
        self._places = places
        self._links = links
        self._seen: dict[tuple[Value, str | None], OwnState] = {}

    def state(self, value: Value, cwd: str | None, *, looks: bool) -> OwnState:
        """What the word is to clew; raises TooMuchWork where a text has absurdly many."""
        key = (value, cwd)
        known = self._seen.get(key)
        if known is None:
            known = self._look(value, cwd, looks=looks)
            self._seen[key] = known
        return known

    def _look(self, value: Value, cwd: str | None, *, looks: bool) -> OwnState:
        for text in _candidates(value.text):
            text = self._places.home + text[1:] if text.startswith("~/") else text
            path = absolute(text, cwd)
            if not path or path == "/" or len(path) > _MAX_PATH:
                continue
            if value.globs and GLOB.search(path):
                if found := self._by_pattern(path):
                    return found
                continue
            follow = "/" in text or os.path.islink(path)
            for meant in meanings(text, cwd, self._links, looks=looks, follow=follow):
                if found := own_state(meant, self._places.clew_home):
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


def _may_write(found: Effective) -> bool:
    """A reading program with a flag that edits in place or names an output."""
    return any(value.text.startswith(("-i", "--in-place", "-o", "--output", "-w", "-pi")) for value in found.argv[1:])


def refuse_own(found: Effective, own: OwnWords, *, looks: bool) -> str:
    """Own state among the arguments: sealed files are closed to everything, records to everything that may write."""
    name = found.name
    row = program(name)
    if row.shows == "words":
        return ""
    lists = row.shows == "names" or name in ("cd", "pushd", "test", "[")
    reads = row.shows == "content" or name in _READS_CONTENT
    deletes = name == "find" and any(value.text == "-delete" for value in found.argv)
    for cwd in (found.cwd, *_folders(found, row.folder_flags)):
        for value in found.argv[1:]:
            state = own.state(value, cwd, looks=looks)
            if not state or state == "content":
                continue
            if deletes:
                return "this deletes clew's own state"
            if state == "sealed" and not lists:
                return "this touches clew's own sealed state"
            if state in ("record", "root") and not lists and (not reads or _may_write(found)):
                return "this may change clew's own state"
            if state == "root" and reads:
                return "this reads clew's own sealed state"
    return ""


def _folders(found: Effective, flags: tuple[str, ...]) -> list[str]:
    """The directories that a flag of the program makes its own."""
    if not flags:
        return []
    texts = [value.text for value in found.argv[1:]]
    named = [after for before, after in pairwise(texts) if before in flags]
    named += [text.partition("=")[2] for text in texts if text.startswith("--") and text.partition("=")[0] in flags]
    named += [text[2:] for text in texts if text[:2] in flags and len(text) > 2]
    return [path for one in named if (path := absolute(one, found.cwd))]
