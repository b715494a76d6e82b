"""Memory files in a session: listing them, adding a line, and taking the last one out again."""

from pathlib import Path

from clew.host.part import Answerers, OpRefused, Part, PartSession, PartSetup
from clew.parts.memory.files import add_line, adds_to, nested_memory, project_memory, remove_line
from clew.protocol.lookups.place import (
    ForgetLine,
    LineRemembered,
    ListMemory,
    MemoryListed,
    MemoryRow,
    MemoryScope,
    Remember,
)


class MemoryPart(Part):
    """The memory files that the user and the trusted project bring. `memory` is what the session begins with."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self.memory = project_memory(setup.workspace)
        self.notes = self.memory.notes
        self.middlewares = (nested_memory(setup.workspace, self.memory),)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._kept = own.toolbox.session.remembered
        self._remind = own.reminders.add

    def lookups(self) -> Answerers:
        """What people ask about memory files."""
        return {ListMemory: self._list, Remember: self._remember, ForgetLine: self._forget}

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
        return MemoryListed(files=rows, adds_to=target, notes=memory.notes)
