"""Which files a proven command would read: literal paths and globs against the directory in force (P5)."""

import os
import re
from pathlib import Path

from clew.permissions.effort import look
from clew.permissions.files import Places, judge_place
from clew.permissions.shell.reading.glob import GLOB, bash_match, matching_names, names_in
from clew.permissions.shell.reading.words import Word, literal, simple_braces
from clew.system.git.layout import file_start
from clew.text.guarded_names import secret_name, word_set

_MAX_MATCHES = 3000
_MAX_CHECKED = 65_536
_CHECKED = re.compile(r"\\?(?:[0-9a-fA-F]{8,} [ *](.+)|[A-Za-z0-9/-]+ \((.+)\) = [0-9a-fA-F]+)")
# What a pattern with a few letters of these would be after, whether or not the file is there yet.
_WANTED_BY_GLOB = (".env", ".env.local", ".netrc", "id_rsa", "id_ed25519")
# Facts about the machine that hold no secret and that everybody may read.
_PUBLIC = word_set(
    """/etc/os-release /etc/lsb-release /etc/debian_version /etc/issue /etc/timezone /etc/shells /dev/null
    /proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /etc/redhat-release"""
)


def refuse_read(word: Word, cwd: str, places: Places) -> str:
    """Why reading what this word names is not proven harmless, or an empty string."""
    words = simple_braces(word)
    if words is None:
        return "braces make several words of one"
    for one in words:
        if why := _refuse_one(one, cwd, places):
            return why
    return ""


def _refuse_one(word: Word, cwd: str, places: Places) -> str:
    text = word.text
    if text == "-" or text == "":
        return ""
    if word.tilde and not (text == "~" or text.startswith("~/")):
        return "the path names another user's home"
    if not word.tilde and text.startswith("~"):
        text = "./" + text
    if word.globs:
        return _refuse_glob(text, cwd, places)
    if text in _PUBLIC:
        return ""
    finding = judge_place("read", text, cwd, places)
    if finding.decision == "allow":
        return ""
    return f"{text}: {finding.why}" if len(text) < 80 else finding.why


def _refuse_glob(text: str, cwd: str, places: Places) -> str:
    """Expand as bash would, and judge what is there: links and secrets can hide behind a star."""
    if text.startswith("~/"):
        text = places.home + text[1:]
    parts = [part for part in text.split("/") if part]
    sought = _sought(parts[-1]) if parts else ""
    if secret := secret_name(text) or secret_name(text.replace("*", "")) or sought:
        return f"{secret} may hold secrets"
    fronts = ["/"] if text.startswith("/") else [cwd]
    for part in parts:
        if not GLOB.search(part):
            fronts = [os.path.join(front, part) for front in fronts]
            continue
        following: list[str] = []
        for front in fronts:
            matches, why = _matches(front, part, cwd, places)
            if why:
                return f"{text}: {why}"
            following += matches
        if len(following) > _MAX_MATCHES:
            return "the pattern matches too many files to be judged"
        fronts = following
    if parts and GLOB.search(parts[-1]):
        return ""
    for front in fronts:
        finding = judge_place("read", front, cwd, places)
        if finding.decision != "allow":
            return f"{text}: {finding.why}"
    return ""


def refuse_pattern(word: Word, cwd: str, places: Places) -> str:
    """Why the directories that a pattern lists are not to be listed unasked, or an empty string."""
    text = word.text
    if word.tilde and not text.startswith("~/"):
        return "the path names another user's home"
    if word.tilde:
        text = places.home + text[1:]
    fronts = ["/"] if text.startswith("/") else [cwd]
    parts = [part for part in text.split("/") if part]
    for at, part in enumerate(parts):
        if not GLOB.search(part):
            fronts = [os.path.join(front, part) for front in fronts]
            continue
        for front in fronts:
            finding = judge_place("list", front, cwd, places)
            # What is no directory lists nothing, and the pattern stays as it is written.
            if finding.decision != "allow" and not finding.error:
                return f"{word.text[:80]} lists a directory: {finding.why}"
        if not any(GLOB.search(later) for later in parts[at + 1 :]):
            return ""
        fronts = [os.path.join(front, name) for front in fronts for name in matching_names(front, part)]
        if len(fronts) > _MAX_MATCHES:
            return "the pattern matches too many files to be judged"
    return ""


def _matches(front: str, part: str, cwd: str, places: Places) -> tuple[list[str], str]:
    """The entries of one directory that a pattern takes, and why one of them must not be read unasked."""
    finding = judge_place("list", front, cwd, places)
    if finding.decision != "allow":
        return [], finding.why
    found: list[str] = []
    for name in matching_names(front, part):
        place = os.path.join(front, name)
        look()
        if os.path.islink(place) or secret_name(name):
            inner = judge_place("read", place, cwd, places)
            if inner.decision != "allow":
                return [], f"{name}: {inner.why}"
        found.append(place)
    return found, ""


def _sought(pattern: str) -> str:
    """The secret that a pattern circumscribes: one that names at least a letter of it besides the dot."""
    if not re.search(r"[A-Za-z]", pattern) or not pattern.startswith((".", "i", "*_", "?d")):
        return ""
    return next((name for name in _WANTED_BY_GLOB if bash_match(name, pattern)), "")


def splits(word: Word, cwd: str) -> bool:
    """The word, or a file name it matches, holds blanks: without quotes the shell would make several words of it."""
    if any(char.isspace() for char in word.text):
        return True
    if not word.globs:
        return False
    folder, _, pattern = word.text.rpartition("/")
    if GLOB.search(folder) or word.tilde:
        return True
    names = names_in(os.path.join(cwd, folder))
    return any(bash_match(name, pattern) and re.search(r"[\s*?\[]", name) for name in names)


def dash_names(word: Word, cwd: str) -> bool:
    """A glob at the start of a word could expand to a file whose name is a flag, or `@file`, which some programs read
    flags from."""
    pattern = word.text.split("/", 1)[0]
    return any(name.startswith(("-", "@")) and bash_match(name, pattern) for name in names_in(cwd))


def refuse_checked(paths: list[Word], cwd: str, places: Places) -> str:
    """Why the files whose names stand in lists of checksums are not to be read unasked, or an empty string."""
    if not paths:
        return "the names of the files to be checked are not known"
    for word in paths:
        if word.globs or word.text in ("", "-"):
            return "the names of the files to be checked are not known"
        data = file_start(Path(cwd, word.text), _MAX_CHECKED)
        if len(data) >= _MAX_CHECKED:
            return "the list of checksums is too long to be judged"
        for line in data.decode("utf-8", "replace").splitlines():
            found = _CHECKED.fullmatch(line)
            if found is None and line.strip() and not line.startswith("#"):
                return "the list of checksums could not be read"
            if found is not None and (why := _refuse_one(literal(found[1] or found[2]), cwd, places)):
                return why
    return ""
