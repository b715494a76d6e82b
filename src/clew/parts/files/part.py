"""The files of a project: their names for whoever types an `@`, and what an edit would change in one."""

import asyncio

from clew.host.part import Answerers, Part, PartSession, PartSetup
from clew.parts.files.edit_preview import previewed
from clew.parts.files.index import FileIndex, project_files
from clew.protocol.lookups.place import FilesFound, FindFiles
from clew.protocol.lookups.session import EditPreviewed, PreviewEdit

MAX_FILES = 500


class FilePart(Part):
    """The index is made by the first question for a name."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self._index: FileIndex | None = None

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session

    async def stop(self) -> None:
        """Nobody reads names any more."""
        if self._index is not None:
            await self._index.close()

    def lookups(self) -> Answerers:
        """What fits a few letters, and what an edit would change."""
        return {FindFiles: self._find, PreviewEdit: self._edit}

    async def _edit(self, lookup: PreviewEdit) -> EditPreviewed:
        cwd = self._session.journal.main.stamp.cwd
        return EditPreviewed(change=await asyncio.to_thread(previewed, lookup, cwd))

    async def _find(self, lookup: FindFiles) -> FilesFound:
        if self._index is None:
            self._index = FileIndex(lambda: project_files(self._workspace))
        rows = await self._index.find(lookup.query, min(lookup.limit, MAX_FILES))
        named = tuple(name for part in self._session.parts for name in part.found(lookup.query))
        return FilesFound(query=lookup.query, rows=(*named, *rows))
