"""What a command did to the history inside `.git`: never kept, never restored, always told.

Refs are read as files before and after, so that a script that calls git is seen as well as git itself.
"""

import os
import zlib
from pathlib import Path

from clew.system.git.layout import file_start, find_repository
from clew.undo.state import path_text

_MAX_REFS = 2_000
_MAX_NEW_COMMITS = 200
"""A command that made more is a rebase or a clone, and is told."""
_MAX_PACKED_BYTES = 4 * 1024 * 1024
STASH = "refs/stash"


def read_refs(root: str) -> dict[str, str]:
    """HEAD and every branch, tag and stash with its commit; empty outside of a repository. Runs nothing."""
    repository = find_repository(Path(root))
    if repository is None:
        return {}
    refs = _packed(repository.common_dir)
    for folder in {repository.common_dir, repository.git_dir}:
        refs.update(_loose(folder))
    head = file_start(repository.git_dir / "HEAD", 4096).decode(errors="replace").strip()
    name = head.removeprefix("ref:").strip() if head.startswith("ref:") else ""
    refs["HEAD"] = f"{name} {refs.get(name, '')}".strip() if name else head
    stashes = file_start(repository.common_dir / "logs" / "refs" / "stash", 1_000_000)
    for line in stashes.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) > 1:
            refs[f"stash {words[1]}"] = words[1]
    return refs


def history_warnings(root: str, before: dict[str, str], after: dict[str, str]) -> list[str]:
    """One line for each ref that was lost or moved back, with the command that brings it back."""
    where = path_text(root)
    if before and not after:
        return [f"{where}/.git: the repository is gone; its history was not kept"]
    warnings: list[str] = []
    old_head, new_head = before.get("HEAD", ""), after.get("HEAD", "")
    if old_head and old_head != new_head and not _only_grew(root, old_head, new_head):
        warnings.append(
            f"HEAD moved from {_short(old_head)} to {_short(new_head)}: files can be restored, the ref is not "
            "(`git reflog` shows where it was)"
        )
    at_head = old_head.partition(" ")[0]
    for name, commit in before.items():
        if name == "HEAD" or name == STASH or (name == at_head and name in after):
            continue
        if name.startswith("stash "):
            if name not in after:
                warnings.append(f"a stash was dropped or applied; `git stash store {commit[:12]}` brings it back")
        elif name not in after:
            kind, short = _kind(name)
            warnings.append(f"{kind} {short} was deleted; `git {_remedy(kind)} {short} {commit[:12]}` brings it back")
        elif after[name] != commit:
            kind, short = _kind(name)
            warnings.append(
                f"{kind} {short} moved from {commit[:12]} to {after[name][:12]}; restoring files does not move it"
            )
    return warnings


def _only_grew(root: str, old: str, new: str) -> bool:
    """Whether the checked-out branch is the same and its commits are all still in it: a commit loses nothing, so it is
    not warned about. Read from the objects that git has just written; what is packed is not looked into."""
    (branch, _, before), (same, _, commit) = old.partition(" "), new.partition(" ")
    repository = find_repository(Path(root))
    if branch != same or not commit or repository is None:
        return False
    if not before:
        return True  # the first commit
    waiting, seen = [commit], set[str]()
    while waiting and len(seen) < _MAX_NEW_COMMITS:
        commit = waiting.pop()
        if commit == before:
            return True
        if commit not in seen:
            seen.add(commit)
            waiting += _parents(repository.common_dir / "objects", commit)
    return False


def _parents(objects: Path, commit: str) -> list[str]:
    try:
        raw = zlib.decompressobj().decompress(file_start(objects / commit[:2] / commit[2:], 65_536), 65_536)
    except zlib.error:
        return []
    lines = raw.partition(b"\0")[2].split(b"\n")
    return [line[7:].decode("ascii", "replace") for line in lines[1:] if line.startswith(b"parent ")]


def _kind(name: str) -> tuple[str, str]:
    for prefix, kind in (("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/remotes/", "remote branch")):
        if name.startswith(prefix):
            return kind, _plain(name[len(prefix) :])
    return "ref", _plain(name)


def _remedy(kind: str) -> str:
    return {"branch": "branch", "tag": "tag"}.get(kind, "update-ref")


def _short(head: str) -> str:
    name, _, commit = head.partition(" ")
    short = _plain(name.removeprefix("refs/heads/"))
    return f"{short} {commit[:12]}".strip() if commit else short[:40] or "nothing"


def _plain(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)[:200]


def _packed(folder: Path) -> dict[str, str]:
    refs: dict[str, str] = {}
    for line in file_start(folder / "packed-refs", _MAX_PACKED_BYTES).decode(errors="replace").splitlines():
        commit, _, name = line.partition(" ")
        if name.startswith("refs/") and not name.startswith("refs/remotes/"):
            refs[name] = commit
    return refs


def _loose(folder: Path) -> dict[str, str]:
    refs: dict[str, str] = {}
    waiting = [folder / "refs" / "heads", folder / "refs" / "tags"]
    while waiting and len(refs) < _MAX_REFS:
        at = waiting.pop()
        try:
            with os.scandir(at) as listing:
                for item in listing:
                    if item.is_dir(follow_symlinks=False):
                        waiting.append(Path(item.path))
                    elif len(refs) < _MAX_REFS:
                        text = file_start(Path(item.path), 256).decode(errors="replace").strip()
                        refs[item.path[len(str(folder)) + 1 :]] = text
        except OSError:
            continue
    return refs
