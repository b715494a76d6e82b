"""What exactly is approved: a hook's definition, and the project's files that its command names."""

import hashlib
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from clew.hooks.command_words import expanded, words_of
from clew.hooks.definitions import Hook
from clew.permissions.named_content import MAX_FILE_BYTES, MAX_TOTAL_BYTES, content_at, is_inside
from clew.protocol.event_kinds.programs import HookScope

VERSION = "1"
MAX_NAMES = 2_000
MAX_FOLDERS = 8
FAMILIES: dict[HookScope, str] = {"user": "user", "given": "user", "claude_user": "claude_user"}
"""All others are the project's: the same hook in two of its files is one decision."""
_PATTERN = re.compile(r"[*?[]")


class TooManyNames(ValueError):
    """A command that names more things than anybody would look at."""


def digest_of(hook: Hook, root: str) -> str:
    """Of the definition and of what its words name below `root` now. Another digest is another decision.

    Raises TooManyNames.
    """
    summary = hashlib.sha256()
    family = FAMILIES.get(hook.scope, "project")
    parts = (VERSION, family, hook.moment, hook.matcher, hook.command, f"{hook.timeout_s:g}", hook.shell)
    named = list(_named(hook, root)) if hook.needs_approval else []
    for part in (
        *(part.encode(errors="surrogatepass") for part in parts),
        *(piece for pair in named for piece in pair),
    ):
        summary.update(len(part).to_bytes(8, "big") + part)
    return summary.hexdigest()


def named_files(hook: Hook, root: str) -> list[str]:
    """What stands inside the project and is named by the command. Raises TooManyNames."""
    return [path for path in _paths(hook, root) if os.path.lexists(path)]


def project_program(hook: Hook, root: str) -> str:
    """A program or script of the project that the command runs by its path. Empty: there is none."""
    place = os.path.realpath(root)
    if _holds_home(hook, place):
        return ""
    for word in words_of(hook.command):
        for text in expanded(word.text, place) if word.runs else ():
            path = os.path.normpath(os.path.join(place, text))
            if is_inside(path, place) and os.path.isfile(path):
                return path
    return ""


def stray_file(hook: Hook, root: str, cwd: str) -> str:
    """A program or script that a relative word means from `cwd`, other than the one it means from the project's root,
    where it was looked at. Empty: there is none."""
    place, here = os.path.realpath(root), os.path.realpath(cwd)
    if here == place:
        return ""
    for word in words_of(hook.command):
        found = os.path.join(here, word.text)
        if not os.path.isfile(found) or word.text.startswith("/") or not (word.runs or os.access(found, os.X_OK)):
            continue
        meant = os.path.join(place, word.text)
        if not os.path.isfile(meant) or not os.path.samefile(found, meant):
            return os.path.relpath(found, place)
    return ""


def _named(hook: Hook, root: str) -> Iterator[tuple[bytes, bytes]]:
    """Each named thing, as seen from the root, with what it is: a file's own digest, or its kind. What does not exist
    adds nothing, so that its coming changes the whole."""
    place, left = os.path.realpath(root), MAX_TOTAL_BYTES
    for path in _paths(hook, root):
        content, size = content_at(path, place, min(left, MAX_FILE_BYTES))
        left -= size
        if content:
            yield os.fsencode(os.path.relpath(path, place)), content


def _paths(hook: Hook, root: str) -> list[str]:
    """Where the words may lead inside the project: from its root, and from each folder that they name
    (`cd scripts && ./check.sh`)."""
    place = os.path.realpath(root)
    if _holds_home(hook, place):
        return []
    words = dict.fromkeys(text for word in words_of(hook.command) for text in expanded(word.text, place))
    folders = [place]
    for word in words:
        path = os.path.normpath(os.path.join(place, word))
        if len(folders) < MAX_FOLDERS and path not in folders and os.path.isdir(path):
            folders.append(path)
    named = {os.path.normpath(os.path.join(folder, word)) for word in words for folder in folders}
    inside = {path for path in named if path != place and is_inside(path, place)}
    found = inside.union(*(_matching(path) for path in inside if _PATTERN.search(os.path.basename(path))))
    if len(found) > MAX_NAMES:
        raise TooManyNames
    return sorted(found)


def _matching(pattern: str) -> list[str]:
    """What a pattern in the last part of a path stands for. One in its folders is not followed: that may be much."""
    folder, name = os.path.split(pattern)
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if fnmatchcase(entry.name, name)]
    except (OSError, ValueError):
        return []


def _holds_home(hook: Hook, place: str) -> bool:
    """The project holds the home directory: what the user's own hook names there is the user's own too."""
    return hook.of_user and is_inside(os.path.realpath(os.path.expanduser("~")), place)
