"""Where clew keeps its own state."""

import os
from collections.abc import Mapping
from pathlib import Path


def clew_home(env: Mapping[str, str] | None = None) -> Path:
    """`$CLEW_HOME`, else `~/.clew`. Not created here."""
    env = os.environ if env is None else env
    chosen = env.get("CLEW_HOME", "")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".clew"


def private_dir(path: Path) -> Path:
    """The directory, made if missing, for this user only."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path
