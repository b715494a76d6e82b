"""The system prompt: stable words first, volatile facts last, so that the prefix stays in the provider's cache.

Facts about the place are gathered once: git runs while the rest of the program starts.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from clew.prompts.memory import Memory
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


ENVIRONMENT = "# Environment (when the session began)"


def prompt_text(name: str) -> str:
    """The words of `<name>.md` beside this module."""
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()


def build_system_prompt(
    facts: Facts,
    memory: Memory,
    *,
    more: tuple[str, ...] = (),
    role: str | None = None,
    override: str | None = None,
    append: str | None = None,
    headless: bool = False,
    small: bool = False,
) -> tuple[str, ...]:
    """The blocks of the system prompt, most stable first: our words, memory files, what the user brought, environment.

    `role` (an agent's words) stands in place of our words; so does `override` (`--system-prompt`), which beats it;
    memory and environment stay. An empty override leaves the environment out too: nothing of ours is said. `append`
    (`--append-system-prompt`) follows whatever counts. `small`: our words are the short ones, for a small window.
    """
    ours = role if role is not None else prompt_text("system_small" if small else "system")
    words = [override] if override is not None else [ours]
    if headless and override is None:
        words.append(prompt_text("headless"))
    if append:
        words.append(append)
    environment = "" if override is not None and not override.strip() else environment_block(facts)
    blocks = ["\n\n".join(word for word in words if word.strip()), memory.text, *more, environment]
    return tuple(block for block in blocks if block)


def environment_block(facts: Facts) -> str:
    """What changes from session to session."""
    lines = [
        ("Working directory", facts.cwd),
        ("Project root", facts.project_root if facts.project_root != facts.cwd else ""),
        ("Git", facts.git),
        ("Platform", facts.platform),
        ("Shell", _shell_words(facts.shell)),
        ("Date", facts.date),
    ]
    known = [f"{name}: {_one_line(value)}" for name, value in lines if value]
    return "\n".join([ENVIRONMENT, *known])


def is_environment(block: str) -> bool:
    """Whether this block tells of the place as it was when a session began."""
    return block.startswith(ENVIRONMENT)


def _shell_words(shell: Shell | None) -> str:
    if shell is None:
        return "no bash found; the Bash tool will fail"
    return f"bash {shell.version} ({shell.path}), started with --noprofile --norc".replace("  ", " ")


def _one_line(value: str) -> str:
    """Directory and branch names are not ours: a line break in one must not start a line of its own."""
    return "".join(letter if letter.isprintable() else "?" for letter in value)[:1000]
