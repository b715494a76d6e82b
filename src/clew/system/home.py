"""Where clew keeps its own state."""

import os
from collections.abc import Mapping
from pathlib import Path

from clew.system.private_files import private_dir

__all__ = ["clew_home", "private_dir", "saved_keys_path"]


def clew_home(env: Mapping[str, str] | None = None) -> Path:
    """`$CLEW_HOME`, else `~/.clew`. Not created here."""
    env = os.environ if env is None else env
    chosen = env.get("CLEW_HOME", "")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".clew"


def saved_keys_path(home: Path) -> Path:
    """The file that holds the keys `clew auth` saved."""
    return home / "credentials.json"
