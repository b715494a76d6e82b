"""The past of a session: page by page for a front end, and as a file for a person."""

import asyncio
import os
from pathlib import Path

from clew.catalog.exporting import SUFFIXES, write_export
from clew.catalog.found_session import OWN, FoundSession
from clew.catalog.opening import Opened, open_found
from clew.host.part import Answerers, OpRefused, Part, PartSession, PartSetup
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.session import ExportSession, HistoryLoaded, LoadHistory, SessionExported
from clew.transcript.errors import TranscriptError
from clew.transcript.log.store import subagent_path
from clew.transcript.past.scrollback import Scrollback

MAX_NAME_CHARS = 60


class HistoryPart(Part):
    """`LoadHistory` and `/export`."""

    def __init__(self, setup: PartSetup) -> None:
        past, self._path = setup.past, setup.past.path
        self._exports = setup.workspace.home / "exports"
        self._scrollback: Scrollback | None = None
        self._books: dict[AgentId, Scrollback] = {}
        """Logs of child agents that were looked at."""
        if self._path is not None:
            seed = () if self._path.exists() else past.entries  # a copy is not written yet
            self._scrollback = Scrollback(self._path, session_id=past.session_id, seed=seed)

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session
        self._tools = own.toolbox.session

    def lookups(self) -> Answerers:
        """Both."""
        return {LoadHistory: self._history, ExportSession: self._export}

    async def _history(self, lookup: LoadHistory) -> HistoryLoaded:
        if self._scrollback is None:
            raise OpRefused("this session is not kept, so there is no history to load")
        if lookup.agent != MAIN_AGENT:
            return await self._of_agent(lookup)
        leaf = self._session.journal.main.conversation.leaf
        page = await asyncio.to_thread(self._scrollback.page, lookup.before, lookup.limit, leaf)
        return HistoryLoaded(events=page.events, before=page.before)

    async def _of_agent(self, lookup: LoadHistory) -> HistoryLoaded:
        """The log of a child agent, whether it works or has ended."""
        assert self._path is not None
        try:
            path = subagent_path(self._path, lookup.agent)
        except TranscriptError as error:
            raise OpRefused(f"there is no agent {lookup.agent!r}") from error
        if not os.access(path, os.R_OK):
            raise OpRefused(f"there is no transcript of the agent {lookup.agent} that can be read")
        book = self._books.get(lookup.agent)
        if book is None:
            book = Scrollback(path, session_id=self._session.started.session_id, sidechain=True)
            self._books[lookup.agent] = book
        page = await asyncio.to_thread(book.page, lookup.before, lookup.limit, None)
        return HistoryLoaded(events=page.events, before=page.before)

    async def _export(self, lookup: ExportSession) -> SessionExported:
        started = self._session.started
        title = self._session.journal.main.state.title
        name = _file_name(title or started.session_id[:8]) + SUFFIXES[lookup.to]
        base = self._tools.cwd if lookup.path else str(self._exports)
        path = _target(lookup, base, name)
        try:
            if not lookup.path:
                self._exports.mkdir(mode=0o700, parents=True, exist_ok=True)
            written = await asyncio.to_thread(lambda: write_export(path, self._opened(), lookup.to))
        except FileExistsError as error:
            raise OpRefused(f"{path} exists; choose another name") from error
        except TranscriptError as error:
            raise OpRefused(str(error)) from error
        except OSError as error:
            raise OpRefused(f"{path} cannot be written: {error.strerror}") from error
        return SessionExported(path=str(path), to=lookup.to, bytes=written)

    def _opened(self) -> Opened:
        started = self._session.started
        if self._path is not None:
            return open_found(FoundSession(agent=OWN, path=self._path, session_id=started.session_id))
        log = self._session.journal.main
        return Opened(
            agent=OWN,
            session_id=started.session_id,
            path=Path(),
            title=log.state.title,
            cwd=started.cwd,
            entries=log.conversation.chain(),
        )


def _target(lookup: ExportSession, base: str, name: str) -> Path:
    """The file that is meant; a name of our own never meets a file that is there."""
    path = Path(os.path.normpath(os.path.join(base, os.path.expanduser(lookup.path))))
    if lookup.path and not path.is_dir():
        return path
    stem, suffix = os.path.splitext(name)
    numbered = (path / (f"{stem}-{number}{suffix}" if number > 1 else name) for number in range(1, 1_000))
    return next((one for one in numbered if not os.path.lexists(one)), path / name)


def _file_name(title: str) -> str:
    """Letters and digits of any script, words joined; never empty, never hidden."""
    words = "".join(letter if letter.isalnum() else " " for letter in title).split()
    return "-".join(words)[:MAX_NAME_CHARS].strip("-") or "session"
