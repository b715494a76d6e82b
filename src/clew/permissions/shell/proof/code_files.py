"""Files of the project and its parents that pick or load code for a program that seems to only print."""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from clew.permissions.effort import look
from clew.permissions.files import Places
from clew.system.git import file_start
from clew.text.word_set import word_set

_MAX_BYTES = 65_536
_PLAIN_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
_HARMLESS_NPMRC = word_set(
    """registry save-exact save-prefix engine-strict legacy-peer-deps fund audit package-lock auto-install-peers
    shamefully-hoist node-linker strict-peer-dependencies always-auth loglevel progress update-notifier color
    prefer-offline prefer-frozen-lockfile link-workspace-packages public-hoist-pattern[] hoist strict-ssl access
    provenance min-release-age ignore-scripts omit include fetch-retries maxsockets resolution-mode
    prefer-workspace-packages save-workspace-protocol shared-workspace-lockfile side-effects-cache"""
)


def _never(text: str) -> bool:
    return False


def _plain_versions(text: str) -> bool:
    """Names of versions, with a program's name before them or not; no path, no address, no template."""
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return all(_PLAIN_VERSION.fullmatch(word) and ".." not in word for words in lines for word in words)


def _plain_npmrc(text: str) -> bool:
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        key = line.partition("=")[0].strip().lower()
        if key not in _HARMLESS_NPMRC and not key.startswith("//") and not re.fullmatch(r"@[\w.-]+:registry", key):
            return False
    return True


_VERSION_FILES = word_set(
    """.tool-versions .python-version .node-version .nvmrc .ruby-version .java-version .go-version .php-version
    .swift-version"""
)
_ANY = ("mise.toml", ".mise.toml", ".rtx.toml", ".config/mise.toml", ".config/mise/config.toml", ".prototools")
_KINDS: dict[str, dict[str, Callable[[str], bool]]] = {
    "versions": {**dict.fromkeys(_VERSION_FILES, _plain_versions), **dict.fromkeys(_ANY, _never)},
    "rust": dict.fromkeys(("rust-toolchain", "rust-toolchain.toml"), _never),
    "cargo": dict.fromkeys((".cargo/config", ".cargo/config.toml"), _never),
    "npmrc": {".npmrc": _plain_npmrc},
    "go": dict.fromkeys(("go.mod", "go.work"), _never),
    "dotnet": {"global.json": _never},
    "poetry": {
        ".poetry": _never,
        "poetry.toml": _never,
        "pyproject.toml": lambda text: "requires-plugins" not in text,
    },
}


def refuse_code_files(kinds: tuple[str, ...], cwd: str, places: Places) -> str:
    """The file that may name code for a program started here, in words, or an empty string."""
    for folder in (Path(cwd), *Path(cwd).parents):
        if str(folder) == places.home and not places.inside(places.home):
            continue  # the user's own settings
        for kind in kinds:
            for name, fine in _KINDS[kind].items():
                look()
                path = folder / name
                if not os.path.lexists(path):
                    continue
                if fine is _never or not fine(file_start(path, _MAX_BYTES).decode("utf-8", "replace")):
                    return f"{name} can choose what this runs"
    return ""


def refuse_project_program(name: str, places: Places) -> str:
    """Why the shell would take a program of this name from the project itself, or an empty string."""
    for folder in _project_folders(os.environ.get("PATH", ""), places):
        look()
        if os.path.lexists(os.path.join(folder, name)):
            return f"{name} is a program of the project itself"
    return ""


@lru_cache(maxsize=16)
def _project_folders(path: str, places: Places) -> tuple[str, ...]:
    """The elements of the search path that lie in the workspace, by name or by where a link leads."""
    absolute = [folder for folder in path.split(os.pathsep) if folder.startswith("/")]
    return tuple(
        folder
        for folder in absolute
        if places.inside(os.path.normpath(folder)) or places.inside(os.path.realpath(folder))
    )
