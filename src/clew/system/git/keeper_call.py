"""Calls of git by the keeper of a command, in which git obeys nothing of the repository. Standard library only."""

import contextlib
import os

from clew.system.git.neutral import OVERRIDES, as_flags, git_environment
from clew.system.home import SYSTEM_DIRS

GIT_TIMEOUT_S = 20


class KeptRepository:
    """One git directory by its path, with the work tree around it, for calls of git."""

    def __init__(self, git_dir: str) -> None:
        self.git_dir = git_dir
        self.root = os.path.dirname(git_dir)

    def run(self, words: list[str], text: str = "") -> str | None:
        """What git prints; None when it failed or is not there."""
        import subprocess  # few commands need it, and the process starter is to start fast

        program = next((path for folder in SYSTEM_DIRS if os.access(path := f"{folder}/git", os.X_OK)), "")
        if not program:
            return None
        argv = [program, "--no-pager", "--literal-pathspecs", *as_flags(OVERRIDES), *words]
        env = git_environment() | {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.root}
        try:
            done = subprocess.run(
                argv, cwd=self.root, env=env, input=text.encode("utf-8", "surrogateescape"), capture_output=True,
                timeout=GIT_TIMEOUT_S, check=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.decode("utf-8", "surrogateescape")

    def write(self, words: list[str], text: str = "", *, locks: tuple[str, ...]) -> bool:
        """A call that writes. Locks that the command left are removed when they are in its way: whoever made them has
        ended."""
        if self.run(words, text) is not None:
            return True
        for name in locks:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self.git_dir, f"{name}.lock"))
        return self.run(words, text) is not None
