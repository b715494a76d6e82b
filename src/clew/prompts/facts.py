"""The facts about where a session works, gathered once: git runs while the rest of the program starts."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from clew.system.clock import Clock, local_date
from clew.system.environment import Shell, find_shell, platform_words
from clew.system.git.command import GitProcess, GitRefused, open_git
from clew.system.git.layout import Head, describe, find_repository, read_head

GIT_PATIENCE_S = 0.05
"""A status that takes longer is left out: the model can ask for it, the user should not wait for it."""


class Facts(Struct, frozen=True, kw_only=True):
    """What the model is told about where it works. One value per session, so that bytes already sent never change."""

    cwd: str
    platform: str
    date: str
    project_root: str = ""
    shell: Shell | None = None
    git: str = ""
    """One line about the repository; empty: none, or not looked at because the project is not trusted."""


class FactsProbe:
    """Gathering under way. Start it early, call `finish` when the first request is built."""

    def __init__(
        self, *, cwd: Path, project_root: Path | None, trusted: bool, env: Mapping[str, str], clock: Clock
    ) -> None:
        self._cwd = cwd
        self._root = project_root
        self._env = env
        self._clock = clock
        self._head: Head | None = None
        self._status: GitProcess | None = None
        repository = find_repository(cwd) if trusted else None
        if repository is not None:
            self._head = read_head(repository)
            git = open_git(repository, trusted=trusted, env=env)
            try:
                self._status = git.start_status() if git is not None else None
            except (GitRefused, OSError):
                self._status = None  # the branch alone will have to do

    def finish(self) -> Facts:
        """The facts; waits for git no longer than `GIT_PATIENCE_S`."""
        shell = find_shell(self._env, outside=(self._root,) if self._root else ())
        changed: int | None = None
        if self._status is not None:
            with self._status as status:
                changed = status.changed_files(timeout_s=GIT_PATIENCE_S)
        return Facts(
            cwd=str(self._cwd),
            project_root=str(self._root or ""),
            platform=platform_words(),
            shell=shell,
            date=local_date(self._clock.wall_s()),
            git=describe(self._head, changed) if self._head is not None else "",
        )

    def close(self) -> None:
        """Give up; for a start that fails before the first request."""
        if self._status is not None:
            self._status.close()
