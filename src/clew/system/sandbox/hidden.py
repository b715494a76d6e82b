"""Places outside the workspace that stay out of sight: credentials, private state, sockets of other programs."""

import os
from collections.abc import Sequence

from clew.text.guarded_names import HOME_CREDENTIALS, SYSTEM_CREDENTIALS, secret_name

LISTENING = 0x10000
MAX_HOMES = 50
IN_HOME = {
    first: tuple(name for name in HOME_CREDENTIALS if name.split("/", 1)[0] == first)
    for first in {name.split("/", 1)[0] for name in HOME_CREDENTIALS}
}
"""Credentials of a home by their first component: what is not there costs nothing."""


def hidden_places(home: str, extra: tuple[str, ...], roots: tuple[str, ...]) -> list[str]:
    """Existing credentials and private state, resolved; none that holds a workspace root, none twice."""
    wanted = [*SYSTEM_CREDENTIALS, *extra]
    for place in homes(home):
        present = set(names_in(place))
        wanted += [f"{place}/{name}" for first in present & IN_HOME.keys() for name in IN_HOME[first]]
        wanted += [f"{place}/{name}" for name in present if secret_name(name)]
    found: set[str] = set()
    for path in wanted:
        if os.path.exists(path):
            real = os.path.realpath(path)
            if not any(root == real or root.startswith(real + "/") for root in roots):
                found.add(real)
    return outermost(found)


def homes(home: str) -> list[str]:
    """The user's own; for root also everybody else's, because no permission stands before those."""
    found = [home]
    if os.getuid() == 0:
        found += ["/root", *(os.path.join("/home", name) for name in names_in("/home")[:MAX_HOMES])]
    return list(dict.fromkeys(found))


def names_in(path: str) -> list[str]:
    """Nothing where nothing can be read."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def outermost(paths: set[str]) -> list[str]:
    """Without those that lie below another one."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda path: path.split("/")):
        if not kept or not path.startswith(kept[-1] + "/"):
            kept.append(path)
    return kept


def overlap(one: str, other: str) -> bool:
    """One of two places is, or holds, the other."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def sockets_of_others() -> list[str]:
    """Listening sockets with a place in the file system: a command that may open sockets must not reach them."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return []
    found: set[str] = set()
    for line in lines:
        words = line.split(maxsplit=7)
        if len(words) == 8 and words[7].startswith("/") and int(words[3], 16) & LISTENING:
            path = os.path.realpath(words[7])
            if os.path.exists(path):
                found.add(path)
    return sorted(found)


def showing(hidden: list[str], needs: Sequence[str]) -> list[str]:
    """The hidden places without the programs that lie in them and are needed, as hooks may in an agent's home: each
    with the directory that holds it, unless that is the hidden place itself. What promises a secret stays hidden."""
    for need in needs:
        path = os.path.realpath(need)
        place = next((place for place in hidden if path.startswith(f"{place}/")), "")
        if not place or not os.path.isfile(path) or secret_name(os.path.basename(path)):
            continue
        folder = os.path.dirname(path)
        wanted = path if folder == place else folder
        opened: list[str] = []
        above = place
        for part in os.path.relpath(wanted, place).split("/"):
            opened += [os.path.join(above, name) for name in names_in(above) if name != part]
            above = os.path.join(above, part)
        secrets = [os.path.join(wanted, name) for name in names_in(wanted) if secret_name(name)]
        hidden = [*(one for one in hidden if one != place), *opened, *secrets]
    return hidden
