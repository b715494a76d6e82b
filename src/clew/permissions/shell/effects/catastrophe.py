"""The always-deny list (P9): root, homes, disks, fork bombs and clew's own state, in every mode.

clew's own state among the words of a command, through links, patterns and `flag=path` (P9).
"""

import os
import re

from clew.permissions.effort import look
from clew.permissions.files import Places, is_disk
from clew.permissions.names import CRITICAL
from clew.permissions.own_state import OwnState, own_state
from clew.permissions.paths import beneath
from clew.permissions.rules import Rule
from clew.permissions.shell.programs.table import program
from clew.permissions.shell.proof.fed_words import filtered_find
from clew.permissions.shell.reading.glob import GLOB, bash_match
from clew.permissions.shell.reading.scan import Effective, Scan
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import word_set


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


_CATCH_ALL = re.compile(r"[*?.!\[\]^]*\*[*?]*|\.\*|\?+|\.\?\*|\.\[[^\]]*\]\*|\{[^}]*\*[^}]*\}")
_RECURSIVE_MODES = word_set("""chmod chown chgrp setfacl chattr chcon""")
_SHOWS_DISK = word_set("""-l --list print -n --no-act -I -i luksDump status""")
_DISK_VIEWERS = word_set("""fdisk sfdisk parted wipefs hdparm gdisk sgdisk cryptsetup""")
_WRITES = word_set("""> >> >| &> &>> >& <>""")
_READS_CONTENT = word_set("""less more bat clew""")
_PATTERN = re.compile(r"\[[^\]]*\]|[*?]+")
_COARSE = re.compile(r"(?:^|[\s;&|(])rm\s+(?:-[-\w]+\s+)+(?:/|~|\$HOME|\$\{HOME\})(?:\*|/)?(?=[\s;&|)]|$)")
_QUOTING = str.maketrans("", "", "'\"\\")
_BETWEEN = re.compile(r"[\s;&|()<>`{}$]+")


def always_denied(scan: Scan, places: Places) -> str:
    """Why the text is refused in every mode, or an empty string."""
    if scan.fork_bomb:
        return "this starts copies of itself without end"
    own = OwnWords(places)
    for found in scan.effective:
        if why := _refuse(found, places, own):
            return why
    return ""


def coarse_denied(text: str, places: Places) -> str:
    """For texts too long to be read whole: the plainest forms only. They are never allowed unasked in any case."""
    if _COARSE.search(text):
        return "this deletes the system or the home directory"
    return "this long text names clew's own state" if places.clew_home in text else ""


def coarse_rule(text: str, rules: tuple[Rule, ...]) -> Rule | None:
    """A rule whose words stand in a text that is too long to be read whole, wherever that is."""
    if not rules:
        return None
    whole = next((rule for rule in rules if rule.whole_tool), None)
    if whole is not None:
        return whole
    words = (word.rsplit("/", 1)[-1] for word in _BETWEEN.split(text.translate(_QUOTING)))
    joined = f" {' '.join(words)} "
    return next((rule for rule in rules if f" {' '.join(rule.words)} " in joined), None)


def unseen_loss(scan: Scan) -> str:
    """Why it cannot be known whether the text belongs on the always-deny list, or an empty string."""
    for found in scan.effective:
        operands = [value for value in found.argv[1:] if not value.text.startswith("-")]
        if all(value.known for value in operands):
            continue
        name = found.name
        risky = (
            (name == "rm" and _recursive(found.argv))
            or (name in _RECURSIVE_MODES and _recursive(found.argv))
            or (name == "find" and _deletes(found.argv))
            or name in ("mv", "dd", "shred")
            or name.startswith(("mkfs", "newfs"))
        )
        if risky:
            return f"it cannot be known what {name} would destroy"
    return ""


def _refuse(found: Effective, places: Places, own: OwnWords) -> str:
    for redirect, values in found.redirects:
        if redirect.op in _WRITES and not (redirect.op == ">&" and values and values[0].text.isdigit()):
            for value in values:
                if why := _refuse_write(value, found.cwd, own):
                    return why
        elif redirect.op == "<":
            for value in values:
                if own.state(value, found.cwd) == "sealed":
                    return "this reads clew's own sealed state"
    if not found.argv:
        return ""
    return _refuse_critical(found, places) or _refuse_own(found, own)


def _refuse_write(value: Value, cwd: str | None, own: OwnWords) -> str:
    if _is_disk_word(value.text, cwd):
        return "this overwrites a disk or memory device"
    if own.state(value, cwd) in ("sealed", "record", "root"):
        return "this changes clew's own state"
    return ""


def _refuse_critical(found: Effective, places: Places) -> str:
    name, argv = found.name, found.argv
    operands = [value for value in argv[1:] if not value.text.startswith("-")]
    if name == "rm":
        recursive = _recursive(argv)
        for value in operands:
            if (recursive or value.globs) and _critical(value, found.cwd, places):
                return "this deletes the system, a home directory or clew's own state"
    elif name in _RECURSIVE_MODES and _recursive(argv):
        if any(_critical(value, found.cwd, places) for value in operands):
            return "this changes modes or owners of the whole system or home"
    elif name == "mv":
        if any(_critical(value, found.cwd, places) for value in operands[:-1]):
            return "this moves the system or a home directory away"
    elif name == "find":
        deletes = _deletes(argv) and not filtered_find(argv)
        if deletes and any(_critical(value, found.cwd, places) for value in operands if not value.text.startswith("(")):
            return "this deletes the system or a home directory"
    empties = name == "rsync" and any(value.text.startswith("--del") for value in argv)
    if empties and any(_critical(value, found.cwd, places) for value in operands[-1:]):
        return "this empties the system or a home directory"
    return _refuse_disk(name, argv, found.cwd)


def _refuse_disk(name: str, argv: list[Value], cwd: str | None) -> str:
    if not program(name).disks and not name.startswith(("mkfs", "newfs")):
        return ""
    if name in _DISK_VIEWERS and any(value.text in _SHOWS_DISK for value in argv[1:]):
        return ""
    operands = [value.text for value in argv[1:] if not value.text.startswith("-")]
    if program(name).writes in ("copy", "move", "link") or name == "rsync":
        operands = operands[-1:]
    for text in operands:
        text = text.removeprefix("of=") if name in ("dd", "dcfldd") else text
        if _is_disk_word(text, cwd):
            return "this overwrites a disk"
    return ""


def _is_disk_word(text: str, cwd: str | None) -> bool:
    """A pattern means the disks it matches, whatever they are called here."""
    path = absolute(text, cwd)
    if not path.startswith("/dev"):
        return False
    return any(is_disk(_PATTERN.sub(letter, path)) for letter in ("a", "0", "0n1"))


def _recursive(argv: list[Value]) -> bool:
    for value in argv[1:]:
        text = value.text
        if text.startswith("--"):
            if len(text) > 3 and "--recursive".startswith(text):
                return True
        elif text.startswith("-") and ("r" in text or "R" in text):
            return True
    return False


def _deletes(argv: list[Value]) -> bool:
    return any(value.text == "-delete" for value in argv)


def _critical(value: Value, cwd: str | None, places: Places) -> bool:
    """The path is, holds, or by its pattern reaches something that must not be lost."""
    path = absolute(value.text, cwd) if value.known else ""
    if not path or len(path) > 4096:
        return False
    if value.globs:
        return _critical_pattern(path, places)
    if _is_critical(path, places):
        return True
    look(path.count("/"))
    return _is_critical(os.path.realpath(path), places)


def _is_critical(path: str, places: Places) -> bool:
    if path in CRITICAL or os.path.dirname(path) in ("/home", "/Users"):
        return True
    return beneath(places.home, path) or beneath(places.clew_home, path)


def _critical_pattern(path: str, places: Places) -> bool:
    parts = path.split("/")
    first = next((index for index, part in enumerate(parts) if re.search(r"[*?\[{]", part)), len(parts))
    base = "/".join(parts[:first]) or "/"
    rest = parts[first:]
    if rest and all(_CATCH_ALL.fullmatch(part) for part in rest) and _is_critical(base, places):
        return True
    reached = (*CRITICAL, places.home, places.clew_home)
    return any(len(one.split("/")) == len(parts) and bash_match(one, path) for one in reached)


def _may_write(found: Effective) -> bool:
    """A reading program with a flag that edits in place or names an output."""
    return any(value.text.startswith(("-i", "--in-place", "-o", "--output", "-w", "-pi")) for value in found.argv[1:])


def _refuse_own(found: Effective, own: OwnWords) -> str:
    """Own state among the arguments: sealed files are closed to everything, records to everything that may write."""
    name = found.name
    shows = program(name).shows
    if shows == "words":
        return ""
    lists = shows == "names" or name in ("cd", "pushd", "test", "[")
    reads = shows == "content" or name in _READS_CONTENT
    for value in found.argv[1:]:
        state = own.state(value, found.cwd)
        if not state or state == "content":
            continue
        if name == "find" and _deletes(found.argv):
            return "this deletes clew's own state"
        if state == "sealed" and not lists:
            return "this touches clew's own sealed state"
        if state in ("record", "root") and not lists and (not reads or _may_write(found)):
            return "this may change clew's own state"
        if state == "root" and reads:
            return "this reads clew's own sealed state"
    return ""
