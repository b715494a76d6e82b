"""Questions that one event answers: history, models, rules, sessions, files, and what place_lookups adds."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from clew.host.refusal import OpRefused
from clew.host.room import Effect, Room
from clew.permissions.rules import RuleError
from clew.protocol.events import (
    Event,
    FilesFound,
    HistoryLoaded,
    ModelsListed,
    RulesListed,
    SessionPreviewed,
    SessionRow,
    SessionsListed,
)
from clew.protocol.ops import (
    AllowRule,
    ApproveMcp,
    ExportSession,
    FindFiles,
    ListHooks,
    ListMcp,
    ListModels,
    ListRules,
    ListSessions,
    LoadHistory,
    LookupOp,
    PreviewSession,
    ReconnectMcp,
    RemoveRule,
    RunChecks,
    ShowDiff,
    StopShell,
    ToggleMcp,
)

ListThem = Callable[[str, int], Awaitable[tuple[SessionRow, ...]]]
PreviewOne = Callable[[str], Awaitable[tuple[str, ...]]]
MAX_FILES = 500
SLOW = (
    ListModels
    | ListSessions
    | PreviewSession
    | FindFiles
    | StopShell
    | ShowDiff
    | ExportSession
    | RunChecks
    | ListHooks
    | ListMcp
    | ApproveMcp
    | ReconnectMcp
    | ToggleMcp
)
"""Questions that may take a moment: nobody waits for them at the door."""


class Lookups:
    """Finds answers. What it returns tells them."""

    def __init__(
        self,
        *,
        sessions: ListThem | None = None,
        preview: PreviewOne | None = None,
    ) -> None:
        self._sessions = sessions
        self._preview = preview
        self._own: dict[str, Path] = {}
        """The files of our own sessions that were listed."""

    async def understood(self, op: LookupOp, room: Room, tell: Callable[[Event], None]) -> Effect:
        """Look it up; `tell` reaches the one who asked. Raises OpRefused."""
        event = await self._answer(op, room)
        return lambda: tell(event)

    async def _answer(self, op: LookupOp, room: Room) -> Event:
        match op:
            case LoadHistory():
                return await _history(op, room)
            case ListModels():
                rows = await room.models()
                return ModelsListed(op_id=op.op_id, models=tuple(row.name for row in rows), rows=rows)
            case ListRules() | AllowRule() | RemoveRule():
                return _rules(op, room)
            case FindFiles():
                return await _files(op, room)
            case ListSessions():
                if self._sessions is None:
                    raise OpRefused("there is no list of sessions here")
                rows = await self._sessions(op.query, op.limit)
                self._own |= {row.session_id: Path(row.path) for row in rows if row.agent == "clew" and row.path}
                return SessionsListed(op_id=op.op_id, sessions=rows)
            case PreviewSession():
                if self._preview is None:
                    raise OpRefused("there is no list of sessions here")
                if op.words:
                    recap = await self._words(op.session, room)
                    return SessionPreviewed(op_id=op.op_id, session=op.session, lines=(), recap=recap)
                lines = await self._preview(op.session)
                return SessionPreviewed(op_id=op.op_id, session=op.session, lines=lines)
            case _:
                from clew.host.place_lookups import place_answer  # loaded where somebody asks

                return await place_answer(op, room)

    async def _words(self, session: str, room: Room) -> str:
        path, orienting = self._own.get(session), room.session.orienting
        return await orienting.words_for(path) if path is not None and orienting is not None else ""


async def _history(op: LoadHistory, room: Room) -> HistoryLoaded:
    if room.scrollback is None:
        raise OpRefused("this session is not kept, so there is no history to load")
    leaf = room.session.journal.main.conversation.leaf
    page = await asyncio.to_thread(room.scrollback.page, op.before, op.limit, leaf)
    return HistoryLoaded(op_id=op.op_id, events=page.events, before=page.before)


def _rules(op: ListRules | AllowRule | RemoveRule, room: Room) -> RulesListed:
    permits = room.permits
    try:
        if isinstance(op, AllowRule):
            permits.allow(op.rule)
        elif isinstance(op, RemoveRule):
            permits.forget(op.rule)
    except RuleError as error:
        raise OpRefused(str(error)) from error
    except KeyError as error:
        words = f'{error.args[0]} was not saved with "always"; rules in settings are changed there'
        raise OpRefused(words) from error
    except OSError as error:
        raise OpRefused(f"the saved rules cannot be changed: {error.strerror}") from error
    if not isinstance(op, ListRules):
        room.session.pending.reconsider()
    return RulesListed(op_id=op.op_id, mode=permits.policy.mode, rules=permits.rows())


async def _files(op: FindFiles, room: Room) -> FilesFound:
    if room.workspace is None:
        raise OpRefused("this session has no project to look for files in")
    if room.files is None:
        from clew.host.file_index import FileIndex, project_files  # loaded by the first `@`

        workspace = room.workspace
        room.files = FileIndex(lambda: project_files(workspace))
        room.session.beside.append(room.files.close)
    rows = await room.files.find(op.query, min(op.limit, MAX_FILES))
    rows = (*(name for part in room.brought for name in part.found(op.query)), *rows)
    return FilesFound(op_id=op.op_id, query=op.query, rows=rows)
