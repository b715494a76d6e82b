"""What a repository's own configuration would make reading git commands run (G1); read as text, never by git."""

import os
import re
from pathlib import Path

from clew.system.git import Repository, file_start, find_repository

_MAX_CONFIG = 1_000_000
_MAX_MODULES = 200
# Sections are left out on purpose: a key of this name anywhere is enough to ask, and none can hide behind odd brackets.
_KEY = re.compile(
    r"(?im)(?:^\ufeff?|\])\s*(fsmonitor|textconv|external|clean|smudge|process|command|worktree|path|showsignature|"
    r"uploadpack|sshcommand|vcs)[^\S\n]*(?:=[^\S\n]*([^\n]*)|$|[#;])"
)
_SWITCH = re.compile(r"(?i)\s*(?:true|false|yes|no|on|off|0|1)?\s*(?:[#;].*)?")
_OFF = re.compile(r"(?i)\s*(?:false|no|off|0)\s*(?:[#;].*)?")
_LFS = re.compile(r'\s*"?git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?"?\s*')
_FETCHING = frozenset({"uploadpack", "sshcommand", "vcs"})
_MODULE_PATH = re.compile(r"(?m)^\s*path\s*=\s*(\S.*?)\s*$")


def running_config(cwd: str) -> str:
    """Why git in this directory may run a program of the repository's choice, or an empty string."""
    repository = find_repository(Path(cwd))
    if repository is None:
        return ""
    for path in (repository.common_dir / "config", repository.git_dir / "config.worktree"):
        if why := _refuse(path, own_worktree=False):
            return why
    for path in _module_configs(repository):
        if why := _refuse(path, own_worktree=True):
            return why
    return ""


def _refuse(path: Path, *, own_worktree: bool) -> str:
    text = file_start(path, _MAX_CONFIG).decode("utf-8", "replace").replace("\r\n", "\n")
    if len(text) >= _MAX_CONFIG:
        return "the repository's configuration is too long to be read"
    if "%G" in text:
        return "the repository's configuration has a format that checks signatures with a program"
    partial = "promisor" in text.lower() or "partialclone" in text.lower()
    for found in _KEY.finditer(text):
        key, value = found[1].lower(), found[2] or ""
        harmless = (
            (key == "fsmonitor" and _SWITCH.fullmatch(value))
            or (key == "showsignature" and _OFF.fullmatch(value))
            or (key in ("clean", "smudge", "process") and _LFS.fullmatch(value))
            or (key == "worktree" and own_worktree)
            or (key in _FETCHING and not partial)
        )
        if not harmless:
            return f"the repository's configuration sets {key}, which can make git run or read something else"
    return ""


def _module_configs(repository: Repository) -> list[Path]:
    """Status and diff look into submodules, and git there obeys their configuration."""
    found: list[Path] = []
    modules = repository.common_dir / "modules"
    for folder, names, files in os.walk(modules):
        if "config" in files:
            found.append(Path(folder, "config"))
            names[:] = [name for name in names if name == "modules"]
        if len(found) >= _MAX_MODULES:
            return found
    listed = file_start(repository.root / ".gitmodules", _MAX_CONFIG).decode("utf-8", "replace")
    return found + [repository.root / path / ".git" / "config" for path in _MODULE_PATH.findall(listed)[:_MAX_MODULES]]
