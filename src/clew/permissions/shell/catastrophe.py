"""The always-deny list (P9): root, homes, disks, fork bombs and clew's own state, in every mode."""

import os
import re

from clew.permissions.files import Places, is_disk
from clew.permissions.names import CRITICAL
from clew.permissions.own_state import own_state
from clew.permissions.paths import beneath
from clew.permissions.shell.glob import bash_match
from clew.permissions.shell.scan import Effective, Scan, filtered_find
from clew.permissions.shell.values import Value
from clew.permissions.word_set import word_set

_CATCH_ALL = re.compile(r"[*?.!\[\]^]*\*[*?]*|\.\*|\?+|\.\?\*|\.\[[^\]]*\]\*|\{[^}]*\*[^}]*\}")
_RECURSIVE_MODES = word_set("""chmod chown chgrp setfacl chattr chcon""")
_DISK_TOOLS = word_set(
    """wipefs blkdiscard shred mkswap fdisk sfdisk cfdisk gdisk sgdisk parted cryptsetup dd tee badblocks hdparm
    cp mv install truncate ddrescue dcfldd pv ln rsync mke2fs newfs rm"""
)
_SHOWS_DISK = word_set("""-l --list print -n --no-act -I -i luksDump status""")
_WRITES = word_set("""> >> >| &> &>> >& <>""")
_SPEAKS_ONLY = word_set("""echo printf true false : basename dirname which type realpath""")
_LISTS_ONLY = word_set("""ls stat du file tree cd pushd test [ readlink find dir exa eza pwd""")
_READS_ONLY = word_set(
    """cat head tail less more bat wc grep egrep fgrep rg diff jq sed awk gawk nl sort uniq cut tac od xxd
    hexdump strings md5sum sha256sum cmp column clew"""
)
_MAX_LOOKUPS = 4000
_PATTERN = re.compile(r"\[[^\]]*\]|[*?]+")
_COARSE = re.compile(r"(?:^|[\s;&|(])rm\s+(?:-[-\w]+\s+)+(?:/|~|\$HOME|\$\{HOME\})(?:\*|/)?(?=[\s;&|)]|$)")


def always_denied(scan: Scan, places: Places) -> str:
    """Why the text is refused in every mode, or an empty string."""
    if scan.fork_bomb:
        return "this starts copies of itself without end"
    own = _OwnLookup(places)
    for found in scan.effective:
        if why := _refuse(found, places, own):
            return why
    return ""


def coarse_denied(text: str, places: Places) -> str:
    """For texts too long to be read whole: the plainest forms only. They are never allowed unasked in any case."""
    if _COARSE.search(text):
        return "this deletes the system or the home directory"
    return "this long text names clew's own state" if places.clew_home in text else ""


def _refuse(found: Effective, places: Places, own: "_OwnLookup") -> str:
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


def _refuse_write(value: Value, cwd: str | None, own: "_OwnLookup") -> str:
    path = _absolute(value.text, cwd)
    if path and is_disk(path):
        return "this overwrites a disk or memory device"
    if own.state(value, cwd) in ("sealed", "record", "root"):
        return "this changes clew's own state"
    return ""


def _refuse_critical(found: Effective, places: Places) -> str:
    name, argv = found.name, found.argv
    operands = [value for value in argv[1:] if not value.text.startswith("-")]
    flags = [value.text for value in argv[1:] if value.text.startswith("-")]
    recursive = any(_is_recursive(flag) for flag in flags)
    if name == "rm":
        for value in operands:
            if (recursive or value.globs) and _critical(value, found.cwd, places):
                return "this deletes the system, a home directory or clew's own state"
    elif name in _RECURSIVE_MODES and recursive:
        if any(_critical(value, found.cwd, places) for value in operands):
            return "this changes modes or owners of the whole system or home"
    elif name == "mv":
        if any(_critical(value, found.cwd, places) for value in operands[:-1]):
            return "this moves the system or a home directory away"
    elif name == "find":
        deletes = any(value.text == "-delete" for value in argv) and not filtered_find(argv)
        if deletes and any(_critical(value, found.cwd, places) for value in operands if not value.text.startswith("(")):
            return "this deletes the system or a home directory"
    empties = name == "rsync" and any(flag.startswith("--del") for flag in flags)
    if empties and any(_critical(value, found.cwd, places) for value in operands[-1:]):
        return "this empties the system or a home directory"
    return _refuse_disk(name, argv, found.cwd)


def _refuse_disk(name: str, argv: list[Value], cwd: str | None) -> str:
    if name not in _DISK_TOOLS and not name.startswith(("mkfs", "newfs")):
        return ""
    if any(value.text in _SHOWS_DISK for value in argv[1:]) and name in (
        "fdisk",
        "sfdisk",
        "parted",
        "wipefs",
        "hdparm",
        "gdisk",
        "sgdisk",
        "cryptsetup",
    ):
        return ""
    operands = [value.text for value in argv[1:] if not value.text.startswith("-")]
    if name in ("cp", "mv", "install", "rsync", "ln") and operands:
        operands = operands[-1:]
    for text in operands:
        text = text.removeprefix("of=") if name in ("dd", "dcfldd") else text
        path = _absolute(text, cwd)
        # A pattern means the disks it matches, whatever they are called here.
        if path and any(is_disk(_PATTERN.sub(letter, path)) for letter in ("a", "0", "0n1")):
            return "this overwrites a disk"
    return ""


def _is_recursive(flag: str) -> bool:
    if flag.startswith("--"):
        return "--recursive".startswith(flag) and len(flag) > 3
    return "r" in flag or "R" in flag


def _absolute(text: str, cwd: str | None) -> str:
    # "$/home/x" is a variable that lost its name; taking it for the path behind it is the safe guess.
    text = text.removeprefix("$") if text.startswith("$/") else text
    if text.startswith("/"):
        path = os.path.normpath(text)
        return "/" + path.lstrip("/")
    return os.path.normpath(os.path.join(cwd, text)) if cwd is not None and text else ""


def _critical(value: Value, cwd: str | None, places: Places) -> bool:
    """The path is, holds, or by its pattern reaches something that must not be lost."""
    if not value.known and not value.text.startswith("/"):
        return False
    path = _absolute(value.text, cwd)
    if not path:
        return False
    if not value.known:
        return False
    if value.globs:
        return _critical_pattern(path, places)
    real = os.path.realpath(path) if path != "/" else path
    return any(_is_critical(one, places) for one in (path, real))


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


def _candidates(value: Value) -> list[str]:
    text = value.text
    found = [text]
    if "=" in text:
        found.append(text.partition("=")[2])
    if text.startswith("@"):
        found.append(text[1:])
    if text.startswith("-") and len(text) > 2 and text[2] in "/~.":
        found.append(text[2:])
    return found


def _own(value: Value, cwd: str | None, places: Places) -> str:
    for text in _candidates(value):
        text = places.home + text[1:] if text.startswith("~/") else text
        path = _absolute(text.split("*")[0].split("?")[0] if value.globs else text, cwd)
        if not path or path == "/":
            continue
        state = own_state(path, places.clew_home)
        if not state and (os.path.islink(path) or "/" in text):
            state = own_state(os.path.realpath(path), places.clew_home)
        if state:
            return "sealed" if value.globs and state == "root" else state
    return ""


class _OwnLookup:
    """Remembers what each word means, and stops looking at words when a text has absurdly many."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._seen: dict[tuple[Value, str | None], str] = {}

    def state(self, value: Value, cwd: str | None) -> str:
        key = (value, cwd)
        known = self._seen.get(key)
        if known is None:
            known = _own(value, cwd, self._places) if len(self._seen) < _MAX_LOOKUPS else ""
            self._seen[key] = known
        return known


def _may_write(found: Effective) -> bool:
    """A reading program with a flag that edits in place or names an output."""
    return any(value.text.startswith(("-i", "--in-place", "-o", "--output", "-w", "-pi")) for value in found.argv[1:])


def _refuse_own(found: Effective, own: _OwnLookup) -> str:
    """Own state among the arguments: sealed files are closed to everything, records to everything that may write."""
    name = found.name
    if name in _SPEAKS_ONLY:
        return ""
    for value in found.argv[1:]:
        state = own.state(value, found.cwd)
        if state == "sealed" and name not in _LISTS_ONLY:
            return "this touches clew's own sealed state"
        if state in ("record", "root") and name not in _LISTS_ONLY and (name not in _READS_ONLY or _may_write(found)):
            return "this may change clew's own state"
        if state == "root" and name in _READS_ONLY:
            return "this reads clew's own sealed state"
        if (
            state in ("sealed", "record", "root")
            and name == "find"
            and any(one.text == "-delete" for one in found.argv)
        ):
            return "this deletes clew's own state"
    return ""
