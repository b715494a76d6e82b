"""The first code that runs: takes the project off the import path, answers `--version`, and hands the rest on."""

import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Entry point of the `clew` command."""
    args = sys.argv[1:] if argv is None else argv
    sys.path[:] = outside_project(sys.path)
    if args in (["--version"], ["-V"]):
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return 0
    from clew.cli.main import run

    return run(args)


def outside_project(entries: list[str]) -> list[str]:
    """The import path without the places of the project that clew is started in, so that no file there is imported.

    The interpreter's own places stay, also where it lies in the project (a venv there), and so does the place of clew
    itself (its own clone). Relative entries go: they would mean another place after every change of directory.
    """
    try:
        project = _project(os.path.realpath(os.getcwd()))
    except OSError:
        return [entry for entry in entries if os.path.isabs(entry)]
    own = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    user_site = getattr(sys.modules.get("site"), "USER_SITE", None) or own
    kept = [os.path.realpath(one) for one in (user_site, sys.prefix, sys.base_prefix, sys.exec_prefix)]
    found: list[str] = []
    for entry in entries:
        place = os.path.realpath(entry)
        if place == own:
            found.append(own)
        elif os.path.isabs(entry) and (not _below(place, project) or _is_kept(place, kept, project)):
            found.append(entry)
    return found


def _is_kept(place: str, kept: list[str], project: str) -> bool:
    """Below one of these that lies in the project; where one is the project itself, only its libraries."""
    inside = (one for one in kept if _below(one, project))
    return any(_below(place, os.path.join(one, "lib") if one == project else one) for one in inside)


def _project(cwd: str) -> str:
    """The repository that holds the directory, or the directory itself."""
    folder = cwd
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return cwd
        folder = above
    return folder


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
