"""What a git directory that a command could write would make the user's own git obey: settings, hooks, todo lists.

Each finding is a path and the reason, so that only what is not harmless is taken away. Directories are held by
descriptor and no link is followed: whoever made the tree may have put links into it. Standard library only.
"""

import contextlib
import os
import re
import stat
from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from clew.system.git.config import ConfigError, Setting, parse_config
from clew.system.git.settings import unsafe_for_everybody
from clew.text.guarded_names import folded, word_set

MAX_FILE = 4_000_000
MAX_MODULES = 200
# By name only, where the system can: git enters a directory that nobody may list, so it is looked into as well.
OPEN = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
STATES = ("rebase-merge", "rebase-apply", "sequencer")
_TODO = word_set(
    """p pick r reword e edit s squash f fixup d drop b break l label t reset m merge u update-ref noop revert"""
)
_STRATEGIES = word_set("recursive resolve octopus ours subtree ort")
_SEQUENCER_KEYS = word_set(
    """no-commit edit allow-empty allow-empty-message drop-redundant-commits keep-redundant-commits signoff
    record-origin allow-ff mainline gpg-sign strategy strategy-option allow-rerere-auto default-msg-cleanup"""
)
_PLAIN_OPTION = re.compile(r"[\w=,. '-]*")
_APPLY_OPTION = re.compile(r"'?(?:--whitespace=\w+|-[pC]\d+|--3way|--reject|--ignore-(?:whitespace|space-change))'?")
_BUILT_IN_DRIVERS = {
    "filter": word_set("lfs"),
    "merge": word_set("text binary union"),
    "diff": word_set(
        """ada bash bibtex cpp csharp css dts elixir fortran fountain golang html ini java kotlin markdown matlab objc
        pascal perl php python r ruby rust scheme tex"""
    ),
}
_DRIVER = re.compile(r"(?<![\w.=-])(filter|merge|diff)=(\S+)")


class Judged(NamedTuple):
    """Something that was taken away, where it is kept now, and why; or something that could not be judged."""

    path: str
    kept: str
    why: str


class ObeyedEntry(NamedTuple):
    """One entry of a directory that git would obey."""

    folder: int
    """The directory, by descriptor."""
    name: str
    path: str
    why: str


class HeldFolder:
    """A directory held by descriptor, with the path that people know it by."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path

    def names(self) -> list[str]:
        """Its entries, sorted; raises OSError where it may not be listed."""
        readable = os.open(".", LIST, dir_fd=self.descriptor)
        try:
            return sorted(os.listdir(readable))
        finally:
            os.close(readable)

    def listed(self) -> list[str] | None:
        """Its entries, sorted; None where it may not be listed."""
        try:
            return self.names()
        except OSError:
            return None

    def kinds(self) -> dict[str, bool] | None:
        """Its entries, each with whether it is a directory; None where it may not be listed."""
        try:
            readable = os.open(".", LIST, dir_fd=self.descriptor)
        except OSError:
            return None
        try:
            with os.scandir(readable) as entries:
                return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        finally:
            os.close(readable)

    def mode(self, name: str) -> int:
        """What kind of file an entry is, links not followed; 0 when there is none."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False).st_mode
        except OSError:
            return 0

    def is_link(self, name: str) -> bool:
        return stat.S_ISLNK(self.mode(name))

    def text(self, name: str) -> str | None:
        """A regular file of reasonable size; None for anything else that is there, empty when nothing is."""
        mode = self.mode(name)
        if not mode:
            return ""
        if not stat.S_ISREG(mode):
            return None
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.descriptor)
        except OSError:
            return None
        with os.fdopen(file, "rb") as data:
            found = data.read(MAX_FILE)
        return found.decode("utf-8", "surrogateescape") if len(found) < MAX_FILE else None

    @contextlib.contextmanager
    def inner(self, name: str) -> "Generator[HeldFolder | None]":
        """A directory in it; None where there is none."""
        try:
            descriptor = os.open(name, OPEN, dir_fd=self.descriptor)
        except OSError:
            yield None
            return
        try:
            yield HeldFolder(descriptor, os.path.join(self.path, name))
        finally:
            os.close(descriptor)

    def found(self, name: str, why: str) -> ObeyedEntry:
        return ObeyedEntry(self.descriptor, name, os.path.join(self.path, name), why)


@contextlib.contextmanager
def opened(path: str) -> Generator[HeldFolder | None]:
    """A directory by its absolute path, in which no part is a link; None where that cannot be."""
    descriptor = os.open("/", OPEN)
    try:
        for part in filter(None, path.split("/")):
            try:
                inner = os.open(part, OPEN, dir_fd=descriptor)
            except OSError:
                yield None
                return
            os.close(descriptor)
            descriptor = inner
        yield HeldFolder(descriptor, path)
    finally:
        os.close(descriptor)


def is_git_directory(folder: HeldFolder) -> bool:
    """Whether git would take the directory itself for a repository."""
    return all(folder.mode(name) for name in ("HEAD", "objects", "refs"))


def obeyed(git: HeldFolder, *, submodule: bool = False) -> Iterator[ObeyedEntry]:
    """What in a git directory is not harmless."""
    for name in ("config", "config.worktree"):
        if why := _unsafe_config(git.text(name), submodule=submodule):
            yield git.found(name, why)
    if git.mode("commondir"):
        yield git.found("commondir", "it takes its configuration from elsewhere")
    yield from _hooks(git)
    with git.inner("info") as info:
        if info is not None and info.mode("attributes") and _drivers(info.text("attributes") or "filter=?"):
            yield info.found("attributes", "it names programs for files")
        elif info is None and git.mode("info"):
            yield git.found("info", "it is no directory")
    yield from unsafe_states(git, {})
    with git.inner("modules") as modules:
        if modules is not None and modules.listed() is None:
            yield git.found("modules", "it cannot be read")
        elif modules is not None:
            yield from _modules(modules, left=[MAX_MODULES])
        elif git.mode("modules"):
            yield git.found("modules", "it is no directory")
    with git.inner("worktrees") as worktrees:
        if worktrees is not None or git.mode("worktrees"):
            yield git.found("worktrees", "it names other places")


def _unsafe_config(text: str | None, *, submodule: bool) -> str:
    if text is None:
        return "it is no plain file"
    try:
        settings = parse_config(text)
    except ConfigError as problem:
        return f"it is unclear: {problem}"
    for setting in settings:
        if submodule and (setting.section, setting.key) == ("core", "worktree"):
            continue
        if name := unsafe_for_everybody(setting):
            return f"it sets {name}"
    return ""


def _hooks(git: HeldFolder) -> Iterator[ObeyedEntry]:
    with git.inner("hooks") as hooks:
        if hooks is None:
            if git.mode("hooks"):
                yield git.found("hooks", "it is no directory")
            return
        names = hooks.listed()
        if names is None:
            yield git.found("hooks", "it cannot be read")
        for name in names or ():
            if not name.endswith(".sample"):
                yield hooks.found(name, "it is a hook")


def _modules(folder: HeldFolder, *, left: list[int]) -> Iterator[ObeyedEntry]:
    """Git directories of submodules, which may lie at any depth."""
    for name in folder.names():
        with folder.inner(name) as inner:
            if inner is None:
                continue
            left[0] -= 1
            if left[0] < 0:
                yield folder.found(name, "there are too many to be judged")
            elif inner.listed() is None:
                yield folder.found(name, "it cannot be read")
            elif is_git_directory(inner):
                yield from obeyed(inner, submodule=True)
            else:
                yield from _modules(inner, left=left)


def todo_lines(git: HeldFolder) -> dict[str, int]:
    """How often each line that starts a program stands in the todo list of a rebase."""
    counted: dict[str, int] = {}
    with git.inner("rebase-merge") as state:
        for line in ((state.text("git-rebase-todo") or "") if state is not None else "").splitlines():
            if line.split(None, 1)[:1] and line.split(None, 1)[0] not in _TODO and not line.startswith("#"):
                counted[line] = counted.get(line, 0) + 1
    return counted


def unsafe_states(git: HeldFolder, before: dict[str, int]) -> Iterator[ObeyedEntry]:
    """Unfinished rebases and picks that would start something when they go on. `before`: what stood there already."""
    for name in STATES:
        with git.inner(name) as state:
            if state is None:
                if git.mode(name):
                    yield git.found(name, "it is no directory")
            elif why := _unsafe_state(name, state, git, before):
                yield git.found(name, why)


def _unsafe_state(name: str, state: HeldFolder, git: HeldFolder, before: dict[str, int]) -> str:
    if name == "rebase-merge":
        if state.text("git-rebase-todo") is None:
            return "its todo list is no plain file"
        new = [line for line, times in todo_lines(git).items() if times > before.get(line, 0)]
        if new:
            return f"its todo list would run: {new[0].strip()[:80]}"
    for file in ("strategy", "strategy_opts", "apply-opt", "opts"):
        text = state.text(file)
        if text is None or not _plain_option(file, text.strip()):
            return f"its {file} names something unknown"
    return ""


def _plain_option(file: str, text: str) -> bool:
    match file:
        case "strategy":
            return not text or text in _STRATEGIES
        case "apply-opt":
            return all(_APPLY_OPTION.fullmatch(word) for word in text.split())
        case "opts":
            try:
                settings = parse_config(text)
            except ConfigError:
                return False
            return all(_sequencer_option(setting) for setting in settings)
        case _:
            return _PLAIN_OPTION.fullmatch(text) is not None


def _sequencer_option(setting: Setting) -> bool:
    if setting.section != "options" or setting.key not in _SEQUENCER_KEYS:
        return False
    value = setting.value or ""
    return value in _STRATEGIES if setting.key == "strategy" else _PLAIN_OPTION.fullmatch(value) is not None


def pointer(folder: HeldFolder, repositories: Iterable[str]) -> str:
    """Why a `.git` that is no directory is not harmless; empty for one that leads to a module of a known repository."""
    text = folder.text(".git")
    if text is None or not text.startswith("gitdir:"):
        return "it leads elsewhere"
    target = os.path.normpath(os.path.join(folder.path, text.removeprefix("gitdir:").strip()))
    known = any(target.startswith(f"{place}/modules/") for place in repositories)
    return "" if known else "it leads elsewhere"


def _drivers(text: str) -> set[tuple[str, str]]:
    """Kind and name of the drivers that attributes name, without those that are built in."""
    named = {(kind, name) for kind, name in _DRIVER.findall(text)}
    return {(kind, name) for kind, name in named if name not in _BUILT_IN_DRIVERS[kind]}


def unsafe_attributes(folder: HeldFolder, configured: set[tuple[str, str]]) -> str:
    """Why a `.gitattributes` is not harmless: it gives files to a program that the user's configuration names."""
    text = folder.text(".gitattributes")
    if text is None:
        return "it is no plain file"
    used = sorted(_drivers(text) & configured)
    return f"it gives files to {used[0][0]}.{used[0][1]}" if used else ""


def configured_drivers(files: Iterable[str]) -> set[tuple[str, str]]:
    """Kind and name of each driver that these configurations give a program to."""
    found: set[tuple[str, str]] = set()
    for file in files:
        try:
            with open(file, encoding="utf-8", errors="surrogateescape") as text:
                settings = parse_config(text.read(MAX_FILE))
        except (OSError, ConfigError):
            continue
        for setting in settings:
            program = setting.key in ("clean", "smudge", "process", "command", "textconv", "driver")
            if setting.section in _BUILT_IN_DRIVERS and program and setting.name:
                found.add((setting.section, setting.name))
    return found


def repository_marks(name: str) -> bool:
    """Whether an entry of this name may make its directory a repository, or steer git in it."""
    return folded(name) in (".git", "head", "objects", "refs", ".gitattributes")
