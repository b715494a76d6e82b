"""Programs that lie below /tmp: a command finds them in the session's own /tmp too, at the same place and read-only."""

import os
from collections.abc import Iterable

REPLACED = ("/tmp", "/var/tmp")
MAX_SETTINGS_BYTES = 10_000


def replaced_tops() -> list[str]:
    """The directories that show the session's own temporary directory inside."""
    return [top for top in REPLACED if os.path.isdir(top) and not os.path.islink(top)]


def kept_places(programs: Iterable[str], roots: Iterable[str]) -> list[str]:
    """What must stay in sight below /tmp so that these programs, files or directories of programs, can run. The rest
    of /tmp stays out of sight; what lies in a workspace root is seen there anyway, and keeps its rights."""
    seen = tuple(root.rstrip("/") + "/" for root in roots)
    tops = tuple(f"{top}/" for top in replaced_tops())
    found: dict[str, None] = {}
    for program in programs:
        for path in (os.path.normpath(program), os.path.realpath(program)):
            for place in installation(path):
                if place.startswith(tops) and not f"{place}/".startswith(seen) and os.path.exists(place):
                    found[place] = None
    return [place for place in found if not any(place.startswith(f"{other}/") for other in found)]


def installation(path: str) -> list[str]:
    """What belongs to a program or to a directory of programs: itself, or all of the directory above its `bin` where
    libraries lie beside it; for an environment of Python also the interpreter that it stands on."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    above, name = os.path.split(folder)
    if name not in ("bin", "sbin") or above in (*REPLACED, "/"):
        return [path]
    if base := python_below(above):
        return [above, *installation(base)]
    return [above] if any(os.path.isdir(f"{above}/{place}") for place in ("lib", "lib64")) else [path]


def python_below(environment: str) -> str:
    """Where the interpreter of a Python environment lies; empty: this is none, or it names itself."""
    try:
        with open(os.path.join(environment, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            lines = file.read(MAX_SETTINGS_BYTES).splitlines()
    except OSError:
        return ""
    homes = [value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"]
    return homes[0] if homes and os.path.isabs(homes[0]) and os.path.dirname(homes[0]) != environment else ""
