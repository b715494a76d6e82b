"""Programs that an interpreter hosts (pip, poetry): what its path holds runs with them, whatever the command says.

A program is proven only where nothing on that path lies in the workspace: neither the program, nor its interpreter,
nor a package directory, nor what a `.pth` file or a link in one adds (an editable install).
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from clew.permissions.effort import entries_of, look
from clew.permissions.files import Places
from clew.permissions.paths import real
from clew.system.git.layout import file_start

_UNCLEAR = "it cannot be told which"
_MAX_BYTES = 65_536
_MAX_CANDIDATES = 12
_MAX_LEVELS = 4
_EXEC_LINE = re.compile(rb"^'''exec' \"?([^\"\n]+?)\"? \"\$0\"", re.MULTILINE)
_IMPORTED = re.compile(r"\bimport\s+([A-Za-z_]\w*)")
_PACKAGE_FOLDERS = re.compile(r"(?:site|dist)-packages")


def refuse_host(name: str, places: Places) -> str:
    """Why a hosted program of this name may run code of the workspace, or an empty string."""
    found = _on_path(name)
    if not found:
        return ""  # there is none: the shell says so, and nothing runs
    return _refuse_script(found, name, places, 0)


def takes_from_workspace(path: str, places: Places) -> bool:
    """Whether a Python program, or an interpreter itself, is known to take code from the workspace."""
    name = os.path.basename(path)
    if name.startswith(("python", "pypy")):
        return bool(_refuse_python(path, places, 0))
    why = _refuse_script(path, name, places, 0)
    return bool(why) and not why.startswith(_UNCLEAR)


def _on_path(name: str) -> str:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        look()
        path = os.path.join(folder, name)
        if folder.startswith("/") and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return ""


def _inside(path: str, places: Places) -> bool:
    return bool(places.inside(os.path.normpath(path)) or places.inside(real(path)))


def _refuse_script(path: str, name: str, places: Places, level: int) -> str:
    if _inside(path, places):
        return f"{name} is a program of the project itself"
    if level >= _MAX_LEVELS:
        return f"{_UNCLEAR} interpreter runs {name}"
    start = file_start(Path(path), _MAX_BYTES)
    if not start.startswith(b"#!"):
        # A program of its own, or the shim of a version manager that is one.
        return _refuse_versions(path, name, places, level) if _is_shim(path) else ""
    words = start[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if not words:
        return f"{_UNCLEAR} interpreter runs {name}"
    interpreter = os.path.basename(words[0])
    if interpreter == "env":
        named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        if named.startswith("python"):
            found = _on_path(named)
            return _refuse_python(found, places, level) if found else ""
    if interpreter.startswith(("python", "pypy")):
        return _refuse_python(words[0], places, level)
    if quoted := _EXEC_LINE.search(start):
        return _refuse_python(quoted[1].decode("utf-8", "replace"), places, level)
    if _is_shim(path):
        return _refuse_versions(path, name, places, level)
    unclear = b"python" in start or interpreter not in ("sh", "bash", "dash")
    return f"{_UNCLEAR} interpreter runs {name}" if unclear else ""


def _is_shim(path: str) -> bool:
    return os.path.basename(os.path.dirname(path)) == "shims"


def _refuse_versions(path: str, name: str, places: Places, level: int) -> str:
    """A version manager starts one of its versions: none of them may reach into the workspace."""
    root = os.path.dirname(os.path.dirname(path))
    found = [
        program
        for folder in ("versions", "installs/python", "installs/pipx-poetry")
        for entry in entries_of(os.path.join(root, folder))
        if os.path.isfile(program := os.path.join(entry.path, "bin", name))
    ]
    if not found or len(found) > _MAX_CANDIDATES:
        return f"{_UNCLEAR} {name} the version manager starts"
    return next((why for one in found if (why := _refuse_script(one, name, places, level + 1))), "")


def _refuse_python(path: str, places: Places, level: int) -> str:
    name = os.path.basename(path)
    if _inside(path, places):
        return "its interpreter lies in the workspace"
    if _is_shim(path):
        return _refuse_versions(path, name, places, level)
    for folder in _package_folders(path, places):
        if _inside(folder, places):
            return "its interpreter takes packages from the workspace"
        if why := _refuse_packages(folder, places):
            return why
    return ""


def _package_folders(path: str, places: Places) -> Iterator[str]:
    """The directories from which this interpreter takes packages, of its own, of its base and of the user."""
    prefixes = dict.fromkeys(os.path.dirname(os.path.dirname(one)) for one in (path, real(path)))
    for prefix in (*prefixes, os.path.join(places.home, ".local")):
        for lib in ("lib", "lib64", "local/lib"):
            for entry in entries_of(os.path.join(prefix, lib)):
                if entry.name.startswith(("python3", "pypy3")):
                    for inner in entries_of(entry.path):
                        if _PACKAGE_FOLDERS.fullmatch(inner.name):
                            yield inner.path


def _refuse_packages(folder: str, places: Places) -> str:
    for entry in entries_of(folder):
        if entry.is_symlink() and _inside(entry.path, places):
            return f"{entry.name} among its packages leads into the workspace"
        if entry.name.endswith((".pth", ".egg-link")) and _leads_inside(entry.path, folder, places):
            return f"{entry.name} makes its interpreter take code from the workspace"
    return ""


def _leads_inside(path: str, folder: str, places: Places) -> bool:
    """A line is a place to take packages from, or code that may add one."""
    for line in file_start(Path(path), _MAX_BYTES).decode("utf-8", "replace").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if not line.startswith(("import ", "import\t")):
            if _inside(os.path.join(folder, line), places):
                return True
            continue
        texts = [line]
        for module in _IMPORTED.findall(line)[:4]:
            look()
            texts.append(file_start(Path(folder, f"{module}.py"), _MAX_BYTES).decode("utf-8", "replace"))
        if any(root in text for text in texts for root in places.roots):
            return True
    return False
