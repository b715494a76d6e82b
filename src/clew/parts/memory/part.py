"""Memory files in a session: read at its start and on the way, listed, a line added, and the last one taken out."""

import os
import stat
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path

from clew.engine.middleware.base import Middleware
from clew.engine.turn import SettledCall, Turn
from clew.host.part import Answerers, OpRefused, Part, PartSession, PartSetup
from clew.host.workspace import Workspace
from clew.permissions.trust import BY_COMMAND, DoubtedMemory, TrustStore, is_memory_name
from clew.prompts.memory import (
    PROJECT_NAMES,
    USER_NAMES,
    Level,
    Memory,
    MemoryFileError,
    load_memory,
    load_nested_memory,
    read_memory_file,
    visible,
)
from clew.protocol.events import Event
from clew.protocol.lookups.place import (
    AcceptMemory,
    DoubtedRow,
    ForgetLine,
    LineRemembered,
    ListMemory,
    MemoryListed,
    MemoryRow,
    MemoryScope,
    Remember,
)
from clew.system.files import open_directory, read_regular, replace_file
from clew.system.private_files import private_dir, write_all

PATH_ARGUMENTS = ("file_path", "notebook_path")


class NestedMemory(Middleware):
    """`find` gives the words of memory files that apply to a path and were not told yet; empty when there are none."""

    stage = -2

    def __init__(self, find: Callable[[Path], str], cwd: Path) -> None:
        self._find = find
        self._cwd = cwd
        self._seen: set[Path] = set()

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Looks at the calls of the step."""
        for path in touched(turn.last.calls, self._cwd):
            if path.parent in self._seen:
                continue
            self._seen.add(path.parent)
            if words := self._find(path):
                yield turn.accept(words)


def touched(calls: Iterable[SettledCall], cwd: Path) -> Iterable[Path]:
    """The files that some calls name."""
    for settled in calls:
        for name in PATH_ARGUMENTS:
            value = settled.call.arguments.get(name)
            if isinstance(value, str) and value:
                yield cwd / value


MAX_LINE_CHARS = 2_000
MAX_SHOWN_CHARS = 8_000
MAX_EDITED_BYTES = 1_000_000
LEVELS: tuple[Level, ...] = ("user", "project")


def project_memory(workspace: Workspace, *, doubting: bool = True) -> Memory:
    """The memory files the user and the trusted project bring; without doubting, those that nobody looked at, too."""
    if not workspace.settings.memory.enabled:
        return Memory()
    return load_memory(
        home=workspace.home,
        project_root=workspace.root,
        cwd=workspace.cwd,
        trusted=workspace.trusted,
        trusts=TrustStore(workspace.home).is_trusted,
        levels=[level for level in LEVELS if level in workspace.sources],
        doubts=DoubtedMemory(workspace.home).why_not if doubting else believe,
    )


def believe(_: Path) -> str:
    """For those who ask what would be loaded once somebody has looked."""
    return ""


def identity(path: str | Path) -> tuple[int, int] | None:
    """Which file it is, whatever names and links lead to it."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def nested_memory(workspace: Workspace, known: Memory) -> NestedMemory:
    """Memory files further down, found when the agent gets there."""
    told = known

    def find(path: Path) -> str:
        nonlocal told
        if not workspace.settings.memory.enabled or "project" not in workspace.sources:
            return ""
        found = load_nested_memory(
            project_root=workspace.root,
            cwd=workspace.cwd,
            touched=path,
            trusted=workspace.trusted,
            known=told,
            trusts=TrustStore(workspace.home).is_trusted,
            doubts=DoubtedMemory(workspace.home).why_not,
        )
        told = Memory(files=told.files + found.files)
        return found.text

    return NestedMemory(find, workspace.cwd)


def adds_to(workspace: Workspace) -> tuple[Path, Level]:
    """Where a line to remember goes: the first memory file of a trusted project that can be read, else the user's."""
    if workspace.trusted:
        for path in (workspace.root / name for name in PROJECT_NAMES):
            try:
                if read_memory_file(path, within=workspace.root) is not None:
                    return path, "project"
            except MemoryFileError:
                continue  # what is not read is not written to either
    known = [workspace.home / name for name in USER_NAMES if (workspace.home / name).exists()]
    return (known or [workspace.home / USER_NAMES[0]])[0], "user"


def clean_line(workspace: Workspace, text: str) -> str:
    """The words as they would be kept. Raises ValueError for those that cannot be."""
    if not workspace.settings.memory.enabled:
        raise ValueError("memory files are switched off in the settings, so nothing was saved")
    line = " ".join(visible(text).split())
    if not line:
        raise ValueError("there is no line to remember")
    if len(line) > MAX_LINE_CHARS:
        raise ValueError(f"a line to remember has at most {MAX_LINE_CHARS:,} characters; edit the file for more")
    return line


def add_line(workspace: Workspace, text: str, *, only: str = "") -> tuple[str, Path, Level, bool]:
    """Append a line to a memory file: the line, the file, whose it is, and whether it is new. `only`: the file that
    was shown to a person. Raises ValueError for words that cannot be kept, or OSError; then nothing was written."""
    line = clean_line(workspace, text)
    path, level = adds_to(workspace)
    if only and os.path.realpath(path) != only:
        raise ValueError(f"lines now go to {path}, which is not the file that was shown")
    if level == "user":
        private_dir(workspace.home)
    created = _append(Path(os.path.realpath(path)), f"- {line}\n".encode())
    return line, path, level, created


def remove_line(path: Path, line: str) -> bool:
    """Take the last such line out of a memory file again; False when it is not there as it was written. Raises
    OSError."""
    real = os.path.realpath(path)
    old = read_regular(real, max_bytes=MAX_EDITED_BYTES)
    lines = old.data.splitlines(keepends=True)
    wanted = f"- {line}\n".encode()
    at = next((place for place in range(len(lines) - 1, -1, -1) if lines[place] == wanted), None)
    if at is None:
        return False
    replace_file(real, b"".join((*lines[:at], *lines[at + 1 :])), expected=old.status)
    return True


def _append(real: Path, data: bytes) -> bool:
    """The path is resolved: a link anywhere in it now is a swap, and is refused. Whether the file is new."""
    held = open_directory(str(real.parent))
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        created = not os.path.lexists(real)
        descriptor = os.open(real.name, flags | (os.O_CREAT | os.O_EXCL if created else 0), 0o600, dir_fd=held)
    finally:
        os.close(held)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(0, "it is no regular file", str(real))
        unfinished = info.st_size and os.pread(descriptor, 1, info.st_size - 1) != b"\n"
        write_all(descriptor, b"\n" + data if unfinished else data)
    finally:
        os.close(descriptor)
    return created


class MemoryPart(Part):
    """The memory files that the user and the trusted project bring. `memory` is what the session begins with."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self.memory = project_memory(setup.workspace)
        self.warnings = tuple(note for note in self.memory.notes if BY_COMMAND in note)
        self.notes = tuple(note for note in self.memory.notes if BY_COMMAND not in note)
        self.middlewares = (nested_memory(setup.workspace, self.memory),)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._kept = own.toolbox.session.remembered
        self._remind = own.reminders.add
        self._notice = own.session.notice
        if own.toolbox.undo is not None:
            own.toolbox.undo.tell_changes_to(self._changed_by_command)

    def _changed_by_command(self, command: str, paths: Sequence[str]) -> None:
        """A command has changed files: those that agents take as orders are not believed before somebody looks."""
        changed = {identity(path) for path in paths} - {None}
        # What the next session would load: an import may have come into being, a name may have become a link.
        loaded = (*self.memory.files, *project_memory(self._workspace, doubting=False).files) if changed else ()
        believed = [file.path for file in loaded if file.level == "project" and identity(file.path) in changed]
        named = [path for path in paths if is_memory_name(path)]
        doubted = list(dict.fromkeys(os.path.realpath(path) for path in (*named, *believed)))
        if not doubted:
            return
        try:
            found = DoubtedMemory(self._workspace.home).add(doubted, command)
        except OSError as error:
            self._notice("warning", f"a command changed a memory file, and that could not be kept: {error}")
            return
        if found:
            names = ", ".join(os.path.relpath(path, self._workspace.root) for path in found)
            self._notice("warning", f"a command changed {names}, which agents take as orders: /memory shows it")

    def lookups(self) -> Answerers:
        """What people ask about memory files."""
        return {
            ListMemory: self._list,
            Remember: self._remember,
            ForgetLine: self._forget,
            AcceptMemory: self._accept,
        }

    async def _accept(self, lookup: AcceptMemory) -> MemoryListed:
        try:
            accepted = DoubtedMemory(self._workspace.home).accept(self._workspace.root)
        except OSError as error:
            raise OpRefused(f"nothing was accepted: {error.strerror}") from error
        if not accepted:
            raise OpRefused("no memory file of this project waits for your look")
        return await self._list(ListMemory())

    async def _remember(self, lookup: Remember) -> LineRemembered:
        try:
            line, path, scope, created = add_line(self._workspace, lookup.line)
        except ValueError as error:
            raise OpRefused(str(error)) from error
        except OSError as error:
            raise OpRefused(f"nothing was saved: {error.filename or ''} {error.strerror}".replace("  ", " ")) from error
        self._kept.append((str(path), line))
        self._remind(f"[The user added this line to the memory file {path}: {line}]")
        return LineRemembered(line=line, path=str(path), scope=scope, created=created)

    async def _forget(self, lookup: ForgetLine) -> LineRemembered:
        if not self._kept:
            raise OpRefused("this session added no line to a memory file")
        path, line = self._kept[-1]
        try:
            found = remove_line(Path(path), line)
        except OSError as error:
            raise OpRefused(f"{path} was left as it is: {error.strerror}") from error
        if not found:
            raise OpRefused(f"the line is not in {path} any more as it was written; nothing was changed")
        self._kept.pop()
        self._remind(f"[The user took this line out of the memory file {path} again: {line}]")
        scope: MemoryScope = "user" if Path(path).is_relative_to(self._workspace.home) else "project"
        return LineRemembered(line=line, path=path, scope=scope, removed=True)

    async def _list(self, lookup: ListMemory) -> MemoryListed:
        """Read anew: a file may have been edited since the session began."""
        workspace = self._workspace
        memory = project_memory(workspace)
        rows = tuple(
            MemoryRow(path=file.path, scope=file.level, chars=file.chars, imported_by=file.imported_by)
            for file in memory.files
        )
        target = str(adds_to(workspace)[0]) if workspace.settings.memory.enabled else ""
        doubted = tuple(
            DoubtedRow(path=doubt.path, command=doubt.command, text=shown_text(doubt.path))
            for doubt in DoubtedMemory(workspace.home).of(workspace.root)
        )
        return MemoryListed(files=rows, adds_to=target, notes=memory.notes, doubted=doubted)


def shown_text(path: str) -> str:
    """The beginning of a file, for a person who decides about it."""
    try:
        found = read_memory_file(Path(path), within=None)
    except MemoryFileError as error:
        return f"[it {error}]"
    text = found.text if found is not None else ""
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}\n[cut: it has {len(text):,} characters]"
