"""Memory files: the user's own, then the project's from its root down to the working directory, with their imports.

Each is read without being led astray: not outside its bounds, no devices, no binaries, no hidden text.
"""

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from clew.system.files import open_directory
from clew.text.guarded_names import secret_name

MAX_FILE_BYTES = 32_000

# Characters that people do not see and models do read. Joiners stay: several scripts and emoji need them.
_INVISIBLE = (
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


class MemoryFileError(Exception):
    """A file that is left out; the message says why, in a few words."""


class MemoryText(Struct, frozen=True, kw_only=True):
    """The readable content of one file."""

    text: str
    identity: tuple[int, int]
    """Device and inode."""
    real_path: str
    notes: tuple[str, ...] = ()


def read_memory_file(path: Path, *, within: Path | None) -> MemoryText | None:
    """The text of a file; None when it does not exist.

    `within` is the directory that the file, every link followed, must lie in. None: anywhere, for the user's own.
    """
    real = os.path.realpath(path)
    if not os.path.lexists(path):
        return None
    if within is not None:
        _check_bounds(path, real, os.path.realpath(within))
    data, info = _read(real)
    if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MemoryFileError("is binary")
    notes: list[str] = []
    if info.st_size > MAX_FILE_BYTES:
        notes.append(f"only the first {MAX_FILE_BYTES // 1000} kB of {info.st_size // 1000} kB are used")
    text = _decode(data, notes)
    shown = visible(text)
    if len(shown) != len(text):
        notes.append(f"{len(text) - len(shown)} invisible characters removed")
    identity = (info.st_dev, info.st_ino)
    return MemoryText(text=shown.strip(), identity=identity, real_path=real, notes=tuple(notes))


def visible(text: str) -> str:
    """The text without characters that people do not see and models do read."""
    return re.sub(_INVISIBLE, "", text)


def _check_bounds(path: Path, real: str, root: str) -> None:
    if not (real == root or real.startswith(root.rstrip("/") + "/")):
        link = " through a link" if os.path.normpath(path).startswith(root) else ""
        raise MemoryFileError(f"leads outside the project{link}")
    inside = os.path.relpath(real, root)
    if ".git" in inside.split("/") or secret_name(inside):
        raise MemoryFileError("may hold secrets")


def _read(real: str) -> tuple[bytes, os.stat_result]:
    folder, name = os.path.split(real)
    try:
        # The path is already resolved: a link anywhere in it now is a swap, not a convenience (F2).
        held = open_directory(folder)
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=held)
        finally:
            os.close(held)
    except FileNotFoundError:
        raise MemoryFileError("is a broken link") from None
    except OSError as error:
        raise MemoryFileError(f"cannot be read ({(error.strerror or 'error').lower()})") from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise MemoryFileError("is a directory" if stat.S_ISDIR(info.st_mode) else "is not a regular file")
        return os.read(descriptor, MAX_FILE_BYTES), info
    except OSError as error:
        raise MemoryFileError(f"cannot be read ({(error.strerror or 'error').lower()})") from error
    finally:
        os.close(descriptor)


def _decode(data: bytes, notes: list[str]) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) - error.start < 4 and len(data) == MAX_FILE_BYTES:
            return data[: error.start].decode("utf-8-sig")  # the cut went through a character
        notes.append("is not UTF-8; unreadable bytes are shown as \ufffd")
        return data.decode("utf-8-sig", errors="replace")


_FENCE = r" {0,3}(`{3,}|~{3,})"
_SPAN = r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)"
_IMPORT = r"(?:^|(?<=[\s(*_>]))@((?:\\ |[^\s\\`*<>|])+)"
_TEXT_ENDING = r"(?i)\.(?:md|mdc|markdown|txt|rst|adoc|json|jsonc|toml|ya?ml)$"


def find_imports(text: str) -> Iterator[str]:
    """The paths that follow an `@`, as written, in order, without repeats."""
    seen: set[str] = set()
    if "@" not in text:
        return
    for line in _prose(text):
        for match in re.finditer(_IMPORT, re.sub(_SPAN, " ", line)):
            path = match[1].replace("\\ ", " ").rstrip(".,;:!?)]}'\"")
            if path and path not in seen:
                seen.add(path)
                yield path


def is_plainly_a_file(path: str) -> bool:
    """Would a person call this a file? `@alice` and `@types/node` are not, so nobody is told they are missing."""
    return path.startswith(("./", "../", "~/", "/")) or re.search(_TEXT_ENDING, path) is not None


def _prose(text: str) -> Iterator[str]:
    """The lines outside fenced and indented code."""
    fence = ""
    after_blank = True
    in_indented = False
    for line in text.split("\n"):
        mark = re.match(_FENCE, line)
        if fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence)
            if closes and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        indented = line.startswith(("    ", "\t"))
        in_indented = indented and (after_blank or in_indented)
        after_blank = not line.strip()
        if not in_indented:
            yield line


USER_NAMES = ("AGENTS.md", "CLEW.md")
PROJECT_NAMES = ("AGENTS.md", "CLAUDE.md", "CLEW.md")
MAX_TOTAL_CHARS = 96_000
MAX_FILES = 64
MAX_DEPTH = 5

Level = Literal["user", "project"]


_FRAME = r"(?i)<(/?)(?=memory-file)"


class MemoryFile(Struct, frozen=True, kw_only=True):
    """A file whose text is in the prompt."""

    path: str
    level: Level
    chars: int
    imported_by: str = ""
    identity: tuple[int, int] = (0, 0)


class Memory(Struct, frozen=True, kw_only=True):
    """What the memory files say, ready for the system prompt, and how it was found."""

    text: str = ""
    files: tuple[MemoryFile, ...] = ()
    notes: tuple[str, ...] = ()
    """One line for every file that was cut, cleaned or left out."""


Trusts = Callable[[Path], bool]
"""Whether the user trusts the repository with this root."""


def _trusts_none(root: Path) -> bool:
    return False


Doubts = Callable[[Path], str]
"""Why a file of the project is not believed until a person has looked at it; empty: it is."""


def _doubts_none(path: Path) -> str:
    return ""


def load_memory(
    *,
    home: Path,
    project_root: Path | None,
    cwd: Path,
    trusted: bool,
    trusts: Trusts = _trusts_none,
    levels: Collection[Level] = ("user", "project"),
    doubts: Doubts = _doubts_none,
) -> Memory:
    """Read all memory files of a session. Before trust only the user's own; nothing of the project is even opened.

    `trusts` is asked for repositories inside the project: they speak for themselves, so they need their own trust.
    `levels`: whose files are wanted at all.
    """
    collector = _Collector(project_root=project_root, trusted=trusted, trusts=trusts, doubts=doubts, home=home)
    for name in USER_NAMES if "user" in levels else ():
        collector.add(home / name, level="user")
    if project_root is not None and trusted and "project" in levels:
        for directory in _down_to(project_root, cwd):
            for name in PROJECT_NAMES:
                collector.add(directory / name, level="project")
    return collector.memory(heading=True)


def load_nested_memory(
    *,
    project_root: Path,
    cwd: Path,
    touched: Path,
    trusted: bool,
    known: Memory,
    trusts: Trusts = _trusts_none,
    doubts: Doubts = _doubts_none,
) -> Memory:
    """The memory files between the working directory and a file that a tool touched, as far as not yet known."""
    collector = _Collector(project_root=project_root, trusted=trusted, trusts=trusts, doubts=doubts, known=known.files)
    if trusted:
        place = Path(os.path.normpath(cwd / touched))
        for directory in _down_to(project_root, place if os.path.isdir(place) else place.parent):
            if directory != project_root and not cwd.is_relative_to(directory):
                for name in PROJECT_NAMES:
                    collector.add(directory / name, level="project")
    return collector.memory(heading=False)


def _down_to(root: Path, directory: Path) -> Iterator[Path]:
    """The directories from `root` to `directory`; only `root` when that lies elsewhere."""
    yield root
    if directory.is_relative_to(root):
        here = root
        for part in directory.relative_to(root).parts:
            here = here / part
            yield here


def _inside(path: str, root: str) -> bool:
    return bool(root) and (path == root or path.startswith(root.rstrip("/") + "/"))


class _Collector:
    """Files read so far, in order, each once."""

    def __init__(
        self,
        *,
        project_root: Path | None,
        trusted: bool,
        trusts: Trusts,
        doubts: Doubts,
        home: Path | None = None,
        known: Iterable[MemoryFile] = (),
    ) -> None:
        self._root = project_root
        self._real_home = os.path.realpath(home) if home is not None else ""
        self._real_root = os.path.realpath(project_root) if project_root is not None else ""
        self._trusted = trusted
        self._trusts = trusts
        self._doubts = doubts
        self._seen_files = {file.identity for file in known}
        self._seen_texts: set[str] = set()
        self._chars = 0
        self._files: list[MemoryFile] = []
        self._parts: list[str] = []
        self._notes: list[str] = []

    def memory(self, *, heading: bool) -> Memory:
        if not self._parts:
            return Memory(notes=tuple(self._notes))
        words = Path(__file__).with_name("memory.md").read_text(encoding="utf-8").strip()
        text = "\n\n".join([words, *self._parts] if heading else self._parts)
        return Memory(text=text, files=tuple(self._files), notes=tuple(self._notes))

    def add(self, path: Path, *, level: Level, imported_by: str = "", depth: int = 0) -> None:
        """Take a file and what it imports, or note why not."""
        try:
            found = self._read(path, level)
        except MemoryFileError as error:
            self._note(path, f"left out: it {error}", imported_by)
            return
        if found is None:
            if imported_by:
                self._note(path, "not found", imported_by)
            return
        if found.identity in self._seen_files or not found.text or found.text in self._seen_texts:
            self._seen_files.add(found.identity)
            return
        if len(self._files) >= MAX_FILES or self._chars + len(found.text) > MAX_TOTAL_CHARS:
            limit = f"{MAX_FILES} files and {MAX_TOTAL_CHARS // 1000} kB together"
            self._note(path, f"left out: memory files may be {limit}", imported_by)
            return
        self._take(path, found, level, imported_by)
        self._import(path, found, level, depth)

    def _read(self, path: Path, level: Level) -> MemoryText | None:
        if level == "project" and not self._trusted:
            raise MemoryFileError("lies in a project that is not trusted")
        if level == "project" and os.path.lexists(path) and (inner := self._nested(path)) and not self._trusts(inner):
            raise MemoryFileError(f"lies in a repository of its own that is not trusted ({self._shown(inner)})")
        found = read_memory_file(path, within=self._root if level == "project" else None)
        if found is not None and level == "project" and (why := self._doubts(path)):
            raise MemoryFileError(why)
        return found

    def _nested(self, path: Path) -> Path | None:
        """The repository inside the project that holds this file, links followed; None where that is the project."""
        place = os.path.dirname(os.path.realpath(path))
        while _inside(place, self._real_root) and place != self._real_root:
            if os.path.lexists(os.path.join(place, ".git")):
                return Path(place)
            place = os.path.dirname(place)
        return None

    def _level_of(self, path: Path) -> Level:
        """Whose word an import of the user's is: a file inside the project stays the project's."""
        real = os.path.realpath(path)
        return "project" if _inside(real, self._real_root) and not _inside(real, self._real_home) else "user"

    def _take(self, path: Path, found: MemoryText, level: Level, imported_by: str) -> None:
        self._seen_files.add(found.identity)
        self._seen_texts.add(found.text)
        self._chars += len(found.text)
        for note in found.notes:
            self._note(path, note, "")
        shown = self._shown(path)
        self._files.append(
            MemoryFile(
                path=str(path), level=level, chars=len(found.text), imported_by=imported_by, identity=found.identity
            )
        )
        # The text must not be able to close its own frame and speak as something else.
        text = re.sub(_FRAME, r"&lt;\1", found.text)
        cut = "".join(f"\n[{note}]" for note in found.notes)
        self._parts.append(f'<memory-file path="{shown}" from="{level}">\n{text}{cut}\n</memory-file>')

    def _import(self, path: Path, found: MemoryText, level: Level, depth: int) -> None:
        for target in find_imports(found.text):
            place = Path(target).expanduser() if target.startswith("~/") else path.parent / target
            if not is_plainly_a_file(target) and not os.path.isfile(place):
                continue  # a mention, an npm scope, a decorator
            if depth >= MAX_DEPTH:
                self._note(place, f"left out: imports go {MAX_DEPTH} deep", str(path))
                continue
            inner = "project" if level == "project" else self._level_of(place)
            self.add(Path(os.path.normpath(place)), level=inner, imported_by=str(path), depth=depth + 1)

    def _shown(self, path: Path) -> str:
        name = str(path)
        if self._root is not None and path.is_relative_to(self._root):
            name = str(path.relative_to(self._root))
        return "".join(letter if letter.isprintable() and letter != '"' else "?" for letter in name)

    def _note(self, path: Path, words: str, imported_by: str) -> None:
        origin = f" (imported by {self._shown(Path(imported_by))})" if imported_by else ""
        self._notes.append(f"{self._shown(path)}{origin}: {words}")
