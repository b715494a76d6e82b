"""What a repository would make a reading git command run (G1): its settings, hooks and gitlinks, read as bytes.

Which settings are harmless stands in `system/git/settings.py`; what a confined command left behind is judged by it too.
"""

import os
from pathlib import Path

from clew.permissions.effort import look
from clew.permissions.files import Places, judge_place
from clew.system.git.config import ConfigError, parse_config
from clew.system.git.index import IndexUnclear, gitlinks
from clew.system.git.layout import Repository, file_start, find_repository
from clew.system.git.settings import unsafe_for_reading

_MAX_CONFIG = 1_000_000
_MAX_LEVELS = 4
_HOOK = "post-index-change"


def refuse_repository(cwd: str, places: Places, *, work_tree: bool) -> str:
    """Why git in this directory may run a program of the repository's choice, or an empty string.

    `work_tree`: the command compares files with the index, so hooks on index refresh and gitlinks matter as well.
    """
    if why := _foreign(cwd, places):
        return why
    start = Path(cwd)
    while True:
        repository = find_repository(start)
        if repository is None:
            return ""
        if why := _refuse(repository, places, work_tree=work_tree, submodule=_is_module(repository), level=0):
            return why
        if _surely_taken(repository) or repository.root.parent == repository.root:
            return ""
        # git may take this one for damaged and go on to the next one above.
        start = repository.root.parent


def _foreign(cwd: str, places: Places) -> str:
    """git in a nested or bare repository obeys that repository's configuration: ask first."""
    root = places.inside(cwd)
    if not root:
        return "git would run outside the workspace"
    place = cwd
    while len(place) > len(root):
        look(2)
        if os.path.lexists(os.path.join(place, ".git")):
            return "this is another repository inside the workspace"
        if os.path.isfile(os.path.join(place, "HEAD")) and os.path.isdir(os.path.join(place, "objects")):
            return "this is a bare repository inside the workspace"
        place = os.path.dirname(place)
    return ""


def _surely_taken(repository: Repository) -> bool:
    return os.path.isdir(repository.common_dir / "objects") and os.path.isdir(repository.common_dir / "refs")


def _is_module(repository: Repository) -> bool:
    return "modules" in repository.git_dir.parts


def _refuse(repository: Repository, places: Places, *, work_tree: bool, submodule: bool, level: int) -> str:
    look(8)

    def refuse_path(value: str) -> str:
        finding = judge_place("read", value, str(repository.root), places)
        return "" if finding.decision == "allow" else finding.why

    if why := _refuse_layout(repository):
        return why
    hooks = repository.common_dir / "hooks"
    for path in (repository.common_dir / "config", repository.git_dir / "config.worktree"):
        data = file_start(path, _MAX_CONFIG)
        if len(data) >= _MAX_CONFIG:
            return "the repository's configuration is too long to be read"
        try:
            settings = parse_config(data.decode("utf-8", "replace"))
        except ConfigError as problem:
            return f"the repository's configuration is unclear: {problem}"
        for setting in settings:
            if name := unsafe_for_reading(setting, refuse_path, submodule=submodule):
                return f"the repository's configuration sets {name}, which is not known to be harmless"
            if (setting.section, setting.key) == ("core", "hookspath"):
                hooks = repository.root / os.path.expanduser(setting.value or "")
    if not work_tree:
        return ""
    if os.path.lexists(hooks / _HOOK):
        return f"the repository has a {_HOOK} hook, which reading may start"
    return _refuse_gitlinks(repository, places, level)


def _refuse_layout(repository: Repository) -> str:
    """Only the plain forms: git's own directory, a submodule's, or that of a worktree made by git."""
    dot_git = repository.root / ".git"
    if os.path.islink(dot_git):
        return "the repository's own directory is a link"
    common = file_start(repository.git_dir / "commondir", 4096)
    if common and (common != b"../..\n" or repository.git_dir.parent.name != "worktrees"):
        return "the repository takes its configuration from elsewhere (commondir)"
    if os.path.isfile(dot_git):
        pointer = file_start(dot_git, 4096)
        if not pointer.endswith(b"\n") or pointer.count(b"\n") != 1 or b"\r" in pointer:
            return "the pointer to the repository is unclear"
    return ""


def _refuse_gitlinks(repository: Repository, places: Places, level: int) -> str:
    """Status and diff start git inside every checked-out gitlink, named in .gitmodules or not."""
    try:
        links = gitlinks(repository)
    except IndexUnclear as problem:
        return f"it cannot be told which other repositories git would look into: {problem}"
    for name in links:
        inner = repository.root / name
        look()
        if name.startswith("/") or ".." in name.split("/") or not os.path.lexists(inner / ".git"):
            continue
        if level >= _MAX_LEVELS:
            return "repositories are nested too deep to be judged"
        nested = find_repository(inner)
        if nested is None or nested.root != inner:
            return f"the repository in {name} cannot be read"
        if why := _refuse(nested, places, work_tree=True, submodule=True, level=level + 1):
            return f"{name}: {why}"
    return ""
