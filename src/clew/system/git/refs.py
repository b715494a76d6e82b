"""The refs of a repository before and after a command: which ones moved. Standard library only."""

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from clew.system.git.keeper_call import KeptRepository
from clew.system.git.left_behind import MAX_FILE, HeldFolder

MAX_REFS = 20_000
STASH_LOG = "logs/refs/stash"
# Files beside HEAD that name a commit which a command of the user's goes back to.
_PSEUDO = re.compile(r"[A-Z_]*HEAD|MERGE_AUTOSTASH|BISECT_START|BISECT_EXPECTED_REV")
_COMMIT = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


class RefsUnclear(ValueError):
    """The refs cannot be read."""


class TooManyRefs(Exception):
    """They are not read one by one."""


class Refs(NamedTuple):
    """All refs of a repository, as its files say."""

    named: dict[str, str]
    """Each ref with its commit, or with `ref: …`."""
    head: str
    """What HEAD says."""
    pseudo: dict[str, str]
    """Further files that name commits, with their text."""
    stash_log: str
    links: frozenset[str] = frozenset()
    """Entries of the git directory, and of its refs, that are links."""

    def commit(self) -> str:
        """What is checked out; empty when unknown."""
        name = self.head.removeprefix("ref:").strip() if self.head.startswith("ref:") else ""
        return self.named.get(name, "") if name else self.head

    def tips(self) -> set[str]:
        """Every commit that a ref or a file of the repository names."""
        texts = (*self.named.values(), self.head, *self.pseudo.values(), self.stash_log)
        return {commit for text in texts for commit in _COMMIT.findall(text)}


def refs_of(git: HeldFolder) -> Refs:
    """Raises RefsUnclear."""
    named = _by_git(git) if git.mode("reftable") else _by_files(git)
    head = (git.text("HEAD") or "").strip()
    names = git.listed()
    if names is None:
        raise RefsUnclear("it cannot be listed")
    pseudo = {name: git.text(name) or "" for name in names if name != "HEAD" and _PSEUDO.fullmatch(name)}
    links = frozenset(path for path, _, _ in links_in(git))
    return Refs(named, head, pseudo, inner_text(git, STASH_LOG) or "", links)


def links_in(git: HeldFolder) -> Iterator[tuple[str, HeldFolder, str]]:
    """Links at the top and among the refs: the path inside, the directory that holds it, and its name there. What a
    link leads to can be changed by commands that cannot write the git directory."""
    for name in git.listed() or ():
        if stat.S_ISLNK(git.mode(name)):
            yield name, git, name
    with git.inner("refs") as refs:
        if refs is not None:
            yield from _links_below(refs, "refs", left=[MAX_REFS])


def _links_below(folder: HeldFolder, prefix: str, *, left: list[int]) -> Iterator[tuple[str, HeldFolder, str]]:
    for name, is_folder in (folder.kinds() or {}).items():
        left[0] -= 1
        if left[0] < 0:
            return
        if is_folder:
            with folder.inner(name) as inner:
                if inner is not None:
                    yield from _links_below(inner, f"{prefix}/{name}", left=left)
        elif folder.is_link(name):
            yield f"{prefix}/{name}", folder, name


def inner_text(git: HeldFolder, path: str) -> str | None:
    """A file further down."""
    folder, _, name = path.partition("/")
    if not name:
        return git.text(folder)
    with git.inner(folder) as inner:
        return inner_text(inner, name) if inner is not None else ""


def _by_git(git: HeldFolder) -> dict[str, str]:
    listed = KeptRepository(git.path).run(["for-each-ref", "--format=%(refname) %(objectname)"])
    head = KeptRepository(git.path).run(["rev-parse", "HEAD"])
    if listed is None:
        raise RefsUnclear("git cannot list them")
    found = dict(line.split(" ", 1) for line in listed.splitlines())
    return found | ({"refs/heads/.invalid": head.strip()} if head else {})


def _by_files(git: HeldFolder) -> dict[str, str]:
    packed = git.text("packed-refs")
    if packed is None and os.stat("packed-refs", dir_fd=git.descriptor).st_size >= MAX_FILE:
        return _by_git(git)
    lines = (line.split(" ", 1) for line in (packed or "").splitlines() if line and line[0] not in "#^")
    found = {words[1].strip(): words[0] for words in lines if len(words) == 2}
    with git.inner("refs") as refs:
        if refs is not None:
            try:
                _loose(refs, "refs", found, left=[MAX_REFS])
            except TooManyRefs:
                return _by_git(git)
        elif git.mode("refs"):
            raise RefsUnclear("refs is no directory")
    return found


def _loose(folder: HeldFolder, prefix: str, found: dict[str, str], *, left: list[int]) -> None:
    kinds = folder.kinds()
    if kinds is None:
        raise RefsUnclear(f"{prefix} cannot be listed")
    left[0] -= len(kinds)
    if left[0] < 0:
        raise TooManyRefs
    for name, is_folder in kinds.items():
        path = f"{prefix}/{name}"
        if is_folder:
            with folder.inner(name) as inner:
                if inner is not None:
                    _loose(inner, path, found, left=left)
        elif not name.endswith(".lock"):
            text = folder.text(name)
            found[path] = "a link" if text is None else text.strip()
