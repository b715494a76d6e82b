"""Unfinished rebases and picks that a confined command made or changed: what they would bring when they go on or are
given up. Standard library only."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.system.git.left_behind import STATES, HeldFolder, ObeyedEntry
from clew.system.git.new_commits import CommitsUnclear, NewCommits, new_words
from clew.text.guarded_names import protected_name

MAX_PATCHES = 2_000
_NAMING = {
    "rebase-merge": ("git-rebase-todo", "onto", "orig-head", "autostash", "stopped-sha", "squash-onto", "update-refs"),
    "rebase-apply": ("onto", "orig-head", "autostash", "abort-safety", "original-commit"),
    "sequencer": ("head", "todo", "abort-safety"),
}
"""Files of a state that name commits."""
_PATCH = re.compile(r"\d+|patch|rebased-patches")
_PATCHED = re.compile(r"(?m)^(?:diff --git |--- |\+\+\+ |rename to |copy to )(.*)$")
_ESCAPE = re.compile(r"\\([0-7]{3})")


class WaitingStates(NamedTuple):
    """The states of a repository before the command."""

    texts: dict[tuple[str, str], str]
    patches: dict[str, tuple[int, ...]]


def waiting_states(git: HeldFolder) -> WaitingStates:
    """As they are now."""
    found = WaitingStates({}, {})
    for name, files in _NAMING.items():
        with git.inner(name) as state:
            if state is None:
                continue
            for file in files:
                found.texts[name, file] = state.text(file) or ""
            if name == "rebase-apply":
                found.patches.update({patch: stamp(state, patch) for patch in _patches(state)})
    return found


def _patches(state: HeldFolder) -> list[str]:
    return [name for name in state.listed() or () if _PATCH.fullmatch(name)]


def stamp(folder: HeldFolder, name: str) -> tuple[int, ...]:
    """Changes whenever the file does."""
    try:
        status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def bringing_states(git: HeldFolder, before: WaitingStates, commits: NewCommits) -> Iterator[ObeyedEntry]:
    """States that would bring a protected name which the user has not."""
    for name in STATES:
        with git.inner(name) as state:
            why = _why(name, state, before, commits) if state is not None else ""
            if why:
                yield git.found(name, why)


def _why(name: str, state: HeldFolder, before: WaitingStates, commits: NewCommits) -> str:
    words: dict[str, str] = {}
    try:
        for file in _NAMING[name]:
            new = new_words(before.texts.get((name, file), ""), state.text(file) or "")
            words |= {f"{file}:{word}": word for word in new}
        planted = commits.planted(words)
    except CommitsUnclear as problem:
        return f"nobody knows what it brings: {problem}"
    for label, brought in planted.items():
        return f"its {label.partition(':')[0]} brings {brought.path} with a content that no file has"
    return _patched(state, before) if name == "rebase-apply" else ""


def _patched(state: HeldFolder, before: WaitingStates) -> str:
    patches = [patch for patch in _patches(state) if stamp(state, patch) != before.patches.get(patch)]
    if len(patches) > MAX_PATCHES:
        return "it has more patches than are looked at"
    for patch in patches:
        text = state.text(patch)
        if text is None:
            return f"its patch {patch} cannot be read"
        for line in _PATCHED.findall(text):
            path = next((path for path in patched_names(line) if protected_name(path)), "")
            if path:
                return f"its patch {patch} brings {path.removeprefix('a/').removeprefix('b/')}"
    return ""


def patched_names(line: str) -> Iterator[str]:
    """The paths that a line of a patch may name, whatever is stripped from them."""
    text = (
        _ESCAPE.sub(lambda match: chr(int(match[1], 8)), line).encode("latin-1", "replace").decode("utf-8", "replace")
    )
    for part in (line, text):
        for word in (part.partition("\t")[0], *part.split()):
            yield word.strip().strip('"').rstrip("\r")
