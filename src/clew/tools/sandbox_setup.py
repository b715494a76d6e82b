"""Making the sandbox of a session from the user's settings."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from clew.system.sandbox.policy import Sandbox
from clew.tools.extras import sandbox_status


def open_sandbox(
    *,
    mode: str,
    network: bool,
    writable: Sequence[str] = (),
    home: str = "",
    search_path: str = "",
    clew_home: Path,
    sockets: Path | None = None,
    allowed: Callable[[str], bool] | None = None,
    max_memory_mb: int = 0,
    max_processes: int = 0,
) -> Sandbox | None:
    """None when the user switched it off. `mode` is auto, required or off, as in the settings.

    The machine is tested when the first command comes, once per boot; our own state, and
    `sockets`, where sessions can be reached, are hidden from commands.
    `allowed` says which credential files of the workspace the user lets commands read.
    """
    if mode == "off":
        return None
    return Sandbox(
        lambda: sandbox_status().current_status(clew_home / "cache"),
        network=network,
        required=mode == "required",
        writable=writable,
        hidden=(str(clew_home), *((str(sockets),) if sockets is not None else ())),
        home=home,
        search_path=search_path,
        aside=str(clew_home / "taken"),
        allowed=allowed,
        max_memory=max_memory_mb * 1_000_000 or machine_memory() * 3 // 4,
        max_processes=max_processes,
    )


def machine_memory() -> int:
    """Bytes of memory that the machine has; 0 where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
