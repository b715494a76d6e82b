"""Calls of the git program, neutralised (G1) and only for trusted repositories."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from clew.system.environment import find_program
from clew.system.git.layout import Repository, file_start
from clew.system.git.neutral import OVERRIDES, as_flags, git_environment


class GitRefused(Exception):
    """Git could not be made safe here, so it was not run."""


class GitResult(Struct, frozen=True, kw_only=True):
    """What a call printed. `ok` is false for an error, a time-out, or output over the limit."""

    ok: bool
    out: str = ""
    error: str = ""


MAX_ASKED = 500
"""Paths in one command line."""
_DIFFING = frozenset({"diff", "show", "log", "diff-tree", "diff-index", "diff-files"})


class Git:
    """Calls of the git program inside one trusted repository. Made by `open_git` only."""

    def __init__(self, program: str, repository: Repository) -> None:
        self.repository = repository
        self._program = program
        self._filters: tuple[str, ...] | None = None

    def run(self, arguments: Sequence[str], *, timeout_s: float = 2.0, max_bytes: int = 4_000_000) -> GitResult:
        """Run one read-only git command and wait for it."""
        with GitProcess(self._start(arguments)) as running:
            return running.result(timeout_s=timeout_s, max_bytes=max_bytes)

    def start_status(self) -> "GitProcess":
        """Begin to look for uncommitted changes in tracked files; ask `changed_files` about the result later."""
        # Untracked files would need a walk of the whole tree, and submodules would run with their own configuration.
        return GitProcess(
            self._start(("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all"))
        )

    def ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Those of these absolute paths that git leaves out: ignored, and not tracked all the same."""
        root = os.path.realpath(self.repository.root)
        inside = {path: os.path.realpath(path) for path in paths}
        asked = [path for path, real in inside.items() if real.startswith(f"{root}{os.sep}")]
        found: set[str] = set()
        for at in range(0, len(asked), MAX_ASKED):
            result = self.run(("check-ignore", "--", *asked[at : at + MAX_ASKED]))
            found |= set(result.out.splitlines())
        return frozenset(found)

    def first_commit(self, *, timeout_s: float = 2.0) -> str:
        """The root of the first-parent history, which stays the same when a repository is moved or cloned.

        Empty when unknown: no commit yet, a shallow clone (its root is arbitrary), or too long a history to walk.
        """
        if (self.repository.common_dir / "shallow").exists():
            return ""
        result = self.run(("rev-list", "--first-parent", "--max-parents=0", "HEAD"), timeout_s=timeout_s)
        return result.out.strip() if result.ok else ""

    def identity(self, directory: Path) -> str:
        """`<first commit>:<path inside the repository>`; empty when unknown."""
        root, inside = os.path.realpath(self.repository.root), os.path.realpath(directory)
        commit = self.first_commit()
        return f"{commit}:{os.path.relpath(inside, root)}" if commit else ""

    def _start(self, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self._argv(arguments),
            cwd=self.repository.root,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _argv(self, arguments: Sequence[str]) -> list[str]:
        if self._filters is None:
            self._filters = self._filter_overrides()
        command, *rest = arguments
        quiet = ("--no-ext-diff", "--no-textconv") if command in _DIFFING else ()
        return [*self._base(), *as_flags(self._filters), command, *quiet, *rest]

    def _base(self) -> list[str]:
        return [self._program, "--no-pager", "--no-optional-locks", *as_flags(OVERRIDES)]

    def _filter_overrides(self) -> tuple[str, ...]:
        """Overrides for content filters, which `git status` would run on changed files.

        Their names are free, so they must be looked up; only a configuration that has or includes any pays for it.
        """
        files = (self.repository.common_dir / "config", self.repository.git_dir / "config.worktree")
        text = b"".join(file_start(path) for path in files).lower()
        if b"filter" not in text and b"include" not in text:
            return ()
        argv = [*self._base(), "config", "--null", "--name-only", "--list"]
        try:
            listed = subprocess.run(
                argv, cwd=self.repository.root, env=git_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                timeout=2, check=True,
            ).stdout.decode(errors="surrogateescape")  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise GitRefused(f"cannot list the filters of {self.repository.root}: {error}") from error
        names = {key[7:].rpartition(".")[0] for key in listed.split("\0") if key.startswith("filter.")}
        if any("=" in name for name in names):
            raise GitRefused(f"{self.repository.root}: a content filter has a name that cannot be overridden")
        return tuple(
            f"filter.{name}.{part}"
            for name in sorted(names)
            for part in ("clean=", "smudge=", "process=", "required=false")
        )


class GitProcess:
    """A started git process. `result` may be called once; leaving the `with` block ends the process."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def __enter__(self) -> "GitProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def result(self, *, timeout_s: float, max_bytes: int = 4_000_000) -> GitResult:
        """Wait for the output; a process that takes too long is ended."""
        try:
            out, error = self._process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.close()
            return GitResult(ok=False, error=f"took longer than {timeout_s} s")
        if len(out) > max_bytes:
            return GitResult(ok=False, error=f"printed more than {max_bytes} bytes")
        words = error.decode(errors="replace").strip()
        return GitResult(ok=self._process.returncode == 0, out=out.decode(errors="replace"), error=words)

    def changed_files(self, *, timeout_s: float) -> int | None:
        """How many tracked files differ from the last commit; None when not known in time."""
        result = self.result(timeout_s=timeout_s)
        if not result.ok:
            return None
        records = iter(result.out.split("\0"))
        changed = 0
        for record in records:
            changed += bool(record)
            if record[:1] in ("R", "C"):
                next(records, "")  # the old name has a field of its own
        return changed

    def close(self) -> None:
        """End the process, whatever state it is in."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


def open_git(repository: Repository, *, trusted: bool, env: Mapping[str, str]) -> Git | None:
    """Git for a repository, or None: no git program, or the project is not trusted and nothing may run there."""
    if not trusted:
        return None
    program = find_program("git", env=env, outside=(repository.root, repository.common_dir))
    return Git(program, repository) if program else None
