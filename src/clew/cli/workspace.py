"""Where a run works: directories, trust and the settings that follow from both."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from clew.config.load import Loaded, load_settings
from clew.config.schema import Settings
from clew.permissions.trust import TrustStore
from clew.system.git import Repository, find_repository
from clew.system.git_command import GitRefused, open_git
from clew.system.home import clew_home


class Workspace(Struct, frozen=True, kw_only=True):
    """Decided once, before anything of the project is read."""

    cwd: Path
    root: Path
    """The repository around `cwd`, or `cwd` itself."""
    home: Path
    env: Mapping[str, str]
    trusted: bool
    loaded: Loaded
    repository: Repository | None = None

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    def identity(self, directory: Path) -> str:
        """Which repository a directory belongs to, so that a moved one is found; asks git, so only when trusted."""
        repository = find_repository(directory)
        if repository is None or not self.trusted:
            return ""
        try:
            git = open_git(repository, trusted=True, env=self.env)
            return git.identity(directory) if git is not None else ""
        except (GitRefused, OSError):
            return ""


def open_workspace(args: argparse.Namespace, env: Mapping[str, str], *, lenient: bool = False) -> Workspace:
    """Find the project, look up trust, load settings. Raises SettingsError."""
    cwd = Path(os.getcwd())
    home = clew_home(env)
    repository = find_repository(cwd)
    root = repository.root if repository is not None else cwd
    if getattr(args, "trust", False):
        remember_trust(home, root)
    trusted = TrustStore(home).is_trusted(root)
    loaded = load_settings(
        home=home,
        project_root=root,
        trusted=trusted,
        env=env,
        settings_arg=getattr(args, "settings", None),
        flags=flags_of(args),
        lenient=lenient,
    )
    return Workspace(cwd=cwd, root=root, home=home, env=env, trusted=trusted, loaded=loaded, repository=repository)


def remember_trust(home: Path, root: Path) -> None:
    """The user's decision, kept. Raises OSError that says what could not be written."""
    try:
        TrustStore(home).remember(root)
    except OSError as error:
        raise OSError(error.errno, f"your trust cannot be saved ({error.strerror})", str(home)) from error


def flags_of(args: argparse.Namespace) -> dict[str, Any]:
    """The flags that are settings, under their dotted keys."""
    named = {
        "model": "model",
        "fallbackModel": "fallback_model",
        "fastModel": "fast_model",
        "effort": "effort",
        "permissionMode": "permission_mode",
        "limits.maxTurns": "max_turns",
        "limits.maxBudgetUsd": "max_budget_usd",
    }
    flags = {key: getattr(args, name, None) for key, name in named.items()}
    for key, name in (
        ("permissions.allow", "allowed_tools"),
        ("permissions.deny", "disallowed_tools"),
    ):
        flags[key] = [rule for text in getattr(args, name, []) for rule in split_rules(text)] or None
    flags["permissions.additionalDirectories"] = getattr(args, "add_dir", []) or None
    return flags


def split_rules(text: str) -> list[str]:
    """`Read, Bash(echo a,b)` is two rules: commas inside parentheses belong to the rule."""
    rules = [""]
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            rules.append("")
        else:
            rules[-1] += letter
    return [rule.strip() for rule in rules]
