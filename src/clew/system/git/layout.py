"""What a repository's few small files say: where it is, what is checked out. Runs nothing, so it needs no trust."""

import os
from pathlib import Path

from msgspec import Struct

MAX_SMALL_FILE = 4096


class Repository(Struct, frozen=True, kw_only=True):
    """Where a repository's files lie. Found by reading alone, so it may be used before trust."""

    root: Path
    """The directory that holds `.git`."""
    git_dir: Path
    """The directory with HEAD; for a worktree or submodule outside of `root`."""
    common_dir: Path
    """The directory with config and objects, shared by all worktrees."""


class Head(Struct, frozen=True, kw_only=True):
    """What is checked out."""

    branch: str = ""
    commit: str = ""
    """Set when no branch is (detached)."""

    def __str__(self) -> str:
        return f"branch {self.branch}" if self.branch else f"detached at {self.commit[:12]}" if self.commit else ""


def find_repository(start: Path) -> Repository | None:
    """The innermost repository around a directory. Runs nothing."""
    for root in (start, *start.parents):
        dot_git = root / ".git"
        if os.path.isdir(dot_git):
            git_dir = dot_git
        elif pointer := _small_file(dot_git):
            git_dir = root / pointer.removeprefix("gitdir:").strip() if pointer.startswith("gitdir:") else None
        else:
            continue
        if git_dir is not None and os.path.isfile(git_dir / "HEAD"):
            common = _small_file(git_dir / "commondir").strip()
            return Repository(root=root, git_dir=git_dir, common_dir=git_dir / common if common else git_dir)
    return None


def find_project_root(cwd: Path) -> Path:
    """The root of the innermost repository, else the directory itself. What trust, settings and sessions hang on."""
    repository = find_repository(cwd)
    return repository.root if repository is not None else cwd


def read_head(repository: Repository) -> Head:
    """The branch or commit in HEAD. Runs nothing; unknown formats give an empty Head."""
    text = _small_file(repository.git_dir / "HEAD").strip()
    if text.startswith("ref:"):
        name = text[4:].strip().removeprefix("refs/heads/")
        # `.invalid` is what reftable repositories keep in this file.
        return Head(branch=_printable(name)) if name != ".invalid" else Head()
    is_commit = len(text) in (40, 64) and all(letter in "0123456789abcdef" for letter in text)
    return Head(commit=text) if is_commit else Head()


def describe(head: Head, changed: int | None) -> str:
    """One line for the prompt: `branch main, 3 files with uncommitted changes`."""
    words = str(head) or "branch unknown"
    if changed is None:
        return words
    state = (
        "no uncommitted changes" if not changed else f"{changed} file{'s' * (changed != 1)} with uncommitted changes"
    )
    return f"{words}, {state}"


def _printable(name: str) -> str:
    """A branch name as safe text: git allows invisible and bidirectional characters in it."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)[:200]


def file_start(path: Path, limit: int = 1_000_000) -> bytes:
    """The start of a regular file; empty when it is missing or anything else. Never waits on a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, limit)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _small_file(path: Path) -> str:
    return file_start(path, MAX_SMALL_FILE).decode(errors="replace")
