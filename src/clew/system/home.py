"""Where clew keeps its own state, where it is installed itself, and where systems keep programs."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clew.system.private_files import private_dir

__all__ = ["SYSTEM_DIRS", "clew_home", "own_installation", "private_dir", "saved_keys_path", "socket_dir"]

SYSTEM_DIRS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")
PACKAGES = ("site-packages", "dist-packages")


def clew_home(env: Mapping[str, str] | None = None) -> Path:
    """`$CLEW_HOME`, else `~/.clew`. Not created here."""
    env = os.environ if env is None else env
    chosen = env.get("CLEW_HOME", "")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".clew"


def saved_keys_path(home: Path) -> Path:
    """The file that holds the keys `clew auth` saved."""
    return home / "credentials.json"


def socket_dir(env: Mapping[str, str], home: Path) -> Path:
    """Where live sessions serve their sockets: a directory of the user's own, which no sandbox shows."""
    runtime = env.get("XDG_RUNTIME_DIR", "")
    usable = os.path.isabs(runtime) and os.path.isdir(runtime) and os.access(runtime, os.W_OK)
    return Path(runtime) / "clew" if usable else home / "run"


@cache
def own_installation() -> tuple[str, ...]:
    """The places of clew's code, of the packages beside it and of its virtual environment, resolved."""
    package = os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    above = os.path.dirname(package)
    found = [above if os.path.basename(above) in PACKAGES else package]
    if sys.prefix != sys.base_prefix:
        found.append(os.path.realpath(sys.prefix))
    return tuple(dict.fromkeys(found))
