"""Where skills and commands lie: which folders of the project, of the user and of plugins, in the order that counts."""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from clew.protocol.invocables import InvocableLevel

Kind = Literal["command", "skill"]
PROJECT_HOMES = (".clew", ".claude")
FOLDERS: dict[Kind, str] = {"command": "commands", "skill": "skills"}
AGENT_FOLDER = "agents"
MAX_PLUGINS = 200
MAX_PLUGIN_DEPTH = 4
"""`~/.claude/plugins/cache/MARKETPLACE/PLUGIN/VERSION/skills` is the deepest that is known."""


class Folder(Struct, frozen=True, kw_only=True):
    """A folder that may hold some."""

    path: str
    kind: Kind
    level: InvocableLevel
    source: str
    within: str = ""
    """The directory that no link may lead out of; empty: the user's own, where links are theirs."""
    prefix: str = ""
    """Goes before every name, with a colon: the plugin's."""


class Around(Struct, frozen=True, kw_only=True):
    """What decides where to look."""

    home: str
    """clew's own."""
    user_home: str
    root: str
    cwd: str
    reads_user: bool = True
    reads_project: bool = True
    """Only ever true of a trusted project."""


def around(
    env: Mapping[str, str], *, home: Path, root: Path, cwd: Path, sources: frozenset[str], trusted: bool
) -> Around:
    """Whose files may be read decides where."""
    return Around(
        home=str(home),
        user_home=env.get("HOME", "") or str(home.parent),
        root=str(root),
        cwd=str(cwd),
        reads_user="user" in sources,
        reads_project=trusted and "project" in sources,
    )


def folders(place: Around) -> Iterator[Folder]:
    """All that are there now, those that win first. Bundled ones are not among them."""
    for folder in _named(place):
        if os.path.isdir(folder.path):
            yield folder


def untrusted_folders(place: Around) -> tuple[str, ...]:
    """What a project has and nobody reads before it is trusted; only whether they are there is looked at."""
    return tuple(folder.path for folder in _project(place) if os.path.isdir(folder.path))


def agent_folders(
    env: Mapping[str, str], *, home: Path, root: Path, cwd: Path, sources: Collection[str]
) -> tuple[str, ...]:
    """The folders with definitions of agents that are there, those of a project included whether it is trusted or
    not: only whether they are there is looked at."""
    claude = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".claude")
    homes = [str(home), claude] if "user" in sources else []
    if "project" in sources:
        homes += [str(base / name) for base in (cwd, root) for name in PROJECT_HOMES]
    paths = (os.path.join(one, AGENT_FOLDER) for one in dict.fromkeys(homes))
    return tuple(path for path in paths if os.path.isdir(path))


def _named(place: Around) -> Iterator[Folder]:
    if place.reads_project:
        yield from _project(place)
    if place.reads_user:
        homes = dict.fromkeys((place.home, os.path.join(place.user_home, ".claude")))
        for home in homes:
            for kind, name in FOLDERS.items():
                yield Folder(path=os.path.join(home, name), kind=kind, level="user", source="user")
        for home in homes:
            yield from _plugins(os.path.join(home, "plugins"))


def _project(place: Around) -> Iterator[Folder]:
    for base in dict.fromkeys((place.cwd, place.root)):
        for home in PROJECT_HOMES:
            for kind, name in FOLDERS.items():
                path = os.path.join(base, home, name)
                yield Folder(path=path, kind=kind, level="project", source="project", within=place.root)


def _plugins(folder: str) -> Iterator[Folder]:
    """A plugin is a folder with `skills` or `commands` in it. Of one that lies there in several versions the last
    counts, by name."""
    found: dict[str, str] = {}
    for path in _plugin_homes(folder, 0):
        found[_plugin_name(path)] = path
    for name, path in list(found.items())[:MAX_PLUGINS]:
        for kind, inside in FOLDERS.items():
            yield Folder(
                path=os.path.join(path, inside), kind=kind, level="plugin", source=f"plugin {name}", prefix=name
            )


def _plugin_homes(folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return
    if depth and set(FOLDERS.values()) & set(inside):
        yield folder
        return
    if depth < MAX_PLUGIN_DEPTH:
        for name in inside[:MAX_PLUGINS]:
            yield from _plugin_homes(os.path.join(folder, name), depth + 1)


def _plugin_name(path: str) -> str:
    """The folder's name; where that is a version, the one above."""
    name = os.path.basename(path)
    return os.path.basename(os.path.dirname(path)) if name[:1].isdigit() or name in ("main", "latest") else name
