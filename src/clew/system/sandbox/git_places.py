"""Places outside a git directory that its configuration takes code or further configuration from."""

import os

from clew.system.git_config import ConfigError, parse_config

MAX_FILES = 20
MAX_BYTES = 1_000_000


def named_by_config(repository: str, home: str) -> list[str]:
    """Included files and the directory of hooks, there or not, as absolute paths without links. Read from the
    repository's configuration and from the user's own, which may say where hooks lie in every repository."""
    found: list[str] = []
    todo = [os.path.join(repository, "config"), f"{home}/.gitconfig", f"{home}/.config/git/config"]
    top = os.path.dirname(repository)
    seen: set[str] = set()
    while todo and len(seen) < MAX_FILES:
        file = todo.pop(0)
        if file in seen:
            continue
        seen.add(file)
        try:
            settings = parse_config(read(file))
        except ConfigError:
            continue  # git itself stops at such a file
        for setting in settings:
            value = setting.value or ""
            if not value:
                continue
            if setting.key == "path" and setting.section in ("include", "includeif"):
                place = absolute(value, os.path.dirname(file), home)
                todo.append(place)
                found.append(place)
            elif (setting.section, setting.key) == ("core", "hookspath"):
                found.append(absolute(value, top, home))
    return list(dict.fromkeys(found))


def absolute(value: str, base: str, home: str) -> str:
    """As git reads a path of its configuration."""
    if value.startswith("~/"):
        value = os.path.join(home, value[2:])
    return os.path.realpath(os.path.join(base, value))


def read(path: str) -> str:
    """A small file; empty when there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_BYTES).decode(errors="surrogateescape")
    except OSError:
        return ""
