"""Where clew keeps its own state."""

import os
from collections.abc import Mapping
from pathlib import Path

from clew.system.private_files import private_dir

__all__ = ["clew_home", "private_dir", "saved_keys_path", "socket_dir"]


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
