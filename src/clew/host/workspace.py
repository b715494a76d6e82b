"""Where a session works: directories, trust and the settings that follow from both."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from clew.config.errors import SettingsError
from clew.config.load import ALL_SOURCES, LoadedSettings, Scope, load_settings
from clew.config.schema import Settings
from clew.host.request import SessionRequest
from clew.permissions.trust import TrustStore
from clew.system.git.command import GitRefused, open_git
from clew.system.git.layout import Repository, find_repository, read_head
from clew.system.home import clew_home, saved_keys_path


class Workspace(Struct, frozen=True, kw_only=True):
    """Decided once, before anything of the project is read."""

    cwd: Path
    root: Path
    """The repository around `cwd`, or `cwd` itself."""
    home: Path
    env: Mapping[str, str]
    """The user's, in which keys that `clew auth` saved are found too; they are never listed or passed on."""
    trusted: bool
    loaded: LoadedSettings
    repository: Repository | None = None
    sources: frozenset[Scope] = ALL_SOURCES
    """Whose files may be read."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def branch(self) -> str:
        """What is checked out now; nothing is read of a repository that is not trusted."""
        return read_head(self.repository).branch if self.repository is not None and self.trusted else ""

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


def open_workspace(
    cwd: Path,
    env: Mapping[str, str],
    *,
    settings: str | None = None,
    flags: dict[str, Any] | None = None,
    lenient: bool = False,
    sources: frozenset[Scope] = ALL_SOURCES,
    keys: bool = True,
) -> Workspace:
    """Find the project, look up trust, load settings. `keys`: also read those that `clew auth` saved. Raises
    SettingsError."""
    home = clew_home(env)
    repository = find_repository(cwd)
    root = repository.root if repository is not None else cwd
    trusted = TrustStore(home).is_trusted(root)
    loaded = load_settings(
        home=home,
        project_root=root,
        trusted=trusted,
        env=env,
        settings_arg=settings,
        flags=flags or {},
        lenient=lenient,
        sources=sources,
    )
    env = {**env, **loaded.given_env} if loaded.given_env else env
    return Workspace(
        cwd=cwd,
        root=root,
        home=home,
        env=with_saved_keys(env, home, lenient=lenient) if keys else env,
        trusted=trusted,
        loaded=loaded,
        repository=repository,
        sources=sources,
    )


BARE_FLAGS: dict[str, Any] = {
    "memory.enabled": False,
    "disableAllHooks": True,
    "lsp.mode": "off",
    "sideQueries.enabled": False,
}
"""What a bare session switches off by settings; skills and MCP servers, which have no switch, are left out by
`host/part.py` and `parts/mcp/part.py`."""


def workspace_of(request: SessionRequest, cwd: Path | None = None) -> Workspace:
    """Where a session that is asked for would work: at its own place, or at `cwd`. Raises SettingsError."""
    return open_workspace(
        cwd or request.cwd,
        request.env,
        settings=request.settings,
        flags={**request.flags, **(BARE_FLAGS if request.bare else {})},
        sources=request.sources,
    )


def with_saved_keys(env: Mapping[str, str], home: Path, *, lenient: bool = False) -> Mapping[str, str]:
    """The environment with the keys that `clew auth` saved; without any, nothing is loaded. Raises SettingsError for a
    file that cannot be relied on; with `lenient` it counts as none."""
    if not os.path.lexists(saved_keys_path(home)):
        return env
    from clew.llm.keys.saved_keys import keyed

    try:
        return keyed(env, home)
    except SettingsError:
        if lenient:
            return env
        raise


def remember_trust(home: Path, root: Path) -> None:
    """The user's decision, kept. Raises OSError that says what could not be written."""
    try:
        TrustStore(home).remember(root)
    except OSError as error:
        raise OSError(error.errno, f"your trust cannot be saved ({error.strerror})", str(home)) from error
