"""Memory files in a session: listing them, adding a line, and taking the last one out again."""

import os
from collections.abc import Sequence
from pathlib import Path

from clew.host.part import Answerers, OpRefused, Part, PartSession, PartSetup
from clew.parts.memory.files import add_line, adds_to, nested_memory, project_memory, remove_line
from clew.prompts.doubted_memory import BY_COMMAND, DoubtedMemory, is_memory_name
from clew.prompts.memory_file import MemoryFileError, read_memory_file
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

MAX_SHOWN_CHARS = 8_000


class MemoryPart(Part):
    """The memory files that the user and the trusted project bring. `memory` is what the session begins with."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self.memory = project_memory(setup.workspace)
        self.warnings = tuple(note for note in self.memory.notes if BY_COMMAND in note)
        self.notes = tuple(note for note in self.memory.notes if BY_COMMAND not in note)
        self.middlewares = (nested_memory(setup.workspace, self.memory),)
        memory = setup.workspace.settings.memory
        if memory.enabled and memory.auto == "suggest":
            from clew.parts.memory.suggestions import MemorySuggestions  # only where the user asked for it

            self._suggestions = MemorySuggestions(setup.workspace)
            self.tools = self._suggestions.tools

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._kept = own.toolbox.session.remembered
        self._remind = own.reminders.add
        self._notice = own.session.notice
        if own.toolbox.undo is not None:
            own.toolbox.undo.tell_changes_to(self._changed_by_command)
        if self.tools:
            self._suggestions.start(self._kept)

    def _changed_by_command(self, command: str, paths: Sequence[str]) -> None:
        """A command has changed files: those that agents take as orders are not believed before somebody looks."""
        believed = {os.path.realpath(file.path) for file in self.memory.files if file.level == "project"}
        doubted = [path for path in paths if is_memory_name(path) or path in believed]
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
