"""Answers about one session: history, status, changes, window, plan, export, and what going back would do."""

import asyncio
import os
from pathlib import Path

from clew.catalog.exporting import SUFFIXES, write_export
from clew.catalog.found_session import OWN, FoundSession
from clew.catalog.opening import Opened, open_found
from clew.host.lookup_desk import Desk, Rows
from clew.host.refusal import OpRefused
from clew.host.room import Room
from clew.parts.doctor.status import status_rows
from clew.parts.window.window import Window
from clew.protocol.lookups.session import (
    ContextShown,
    DiffShown,
    ExportSession,
    HistoryLoaded,
    LoadHistory,
    PreviewRedo,
    PreviewRewind,
    PreviewUndo,
    ReceiptShown,
    RequestContext,
    RequestReceipt,
    RequestStatus,
    RewindPreviewed,
    SessionExported,
    ShowDiff,
    StatusShown,
)
from clew.protocol.lookups.slash_names import InvocablesListed, ListInvocables
from clew.transcript.errors import TranscriptError
from clew.undo.errors import NothingToRestore, UndoError

MAX_DIFF_FILES = 200
MAX_NAME_CHARS = 60


async def _history(lookup: LoadHistory, *, desk: Desk) -> HistoryLoaded:
    room = desk.room
    if room.scrollback is None:
        raise OpRefused("this session is not kept, so there is no history to load")
    leaf = room.session.journal.main.conversation.leaf
    page = await asyncio.to_thread(room.scrollback.page, lookup.before, lookup.limit, leaf)
    return HistoryLoaded(events=page.events, before=page.before)


async def _status(lookup: RequestStatus, *, desk: Desk) -> StatusShown:
    return StatusShown(rows=await asyncio.to_thread(status_rows, desk.room))


async def _context(lookup: RequestContext, *, desk: Desk) -> ContextShown:
    return ContextShown(measured=_window(desk.room).measured())


async def _receipt(lookup: RequestReceipt, *, desk: Desk) -> ReceiptShown:
    return ReceiptShown(receipt=_window(desk.room).receipt())


def _window(room: Room) -> Window:
    if room.window is None:
        raise OpRefused("the window of this session is not measured")
    return room.window()


async def _preview(lookup: PreviewRewind | PreviewUndo | PreviewRedo, *, desk: Desk) -> RewindPreviewed:
    """Only between turns, as going back itself."""
    room = desk.room
    if desk.restoring():
        raise OpRefused("files are being restored; send it again when that is done")
    if room.undo is None:
        raise OpRefused("this session is not kept, so there is nothing to go back to")
    if room.session.main.working:
        raise OpRefused("the agent is at work: interrupt it first, or wait until the turn ends")
    from clew.parts.undo.way_back import preview  # undo is loaded only where it is used

    return await preview(lookup, room.session, room.undo)


async def _names(lookup: ListInvocables, *, desk: Desk) -> InvocablesListed:
    if desk.room.invocables is None:
        raise OpRefused("this session has no commands or skills of the user's")
    return await desk.room.invocables.listed(lookup)


async def _diff(lookup: ShowDiff, *, desk: Desk) -> DiffShown:
    room = desk.room
    if room.undo is None:
        raise OpRefused("this session is not kept, so nobody knows what it changed; git diff may tell")
    try:
        keeper = await room.undo.keeper()
        plan = await keeper.plan_since("")
        wanted = [file for file in plan.files if lookup.path in file.path]
        blocks = await keeper.changed(wanted[:MAX_DIFF_FILES])
    except NothingToRestore:
        return DiffShown(files=())
    except (UndoError, OSError) as error:
        raise OpRefused(f"the kept files cannot be read: {error}") from error
    return DiffShown(files=blocks, left_out=max(0, len(wanted) - MAX_DIFF_FILES), warnings=plan.warnings)


async def _export(lookup: ExportSession, *, desk: Desk) -> SessionExported:
    room = desk.room
    base = room.tools.cwd if room.tools is not None else room.session.started.cwd
    title = room.session.journal.main.state.title
    path = _target(lookup, base, _file_name(title or room.session.started.session_id[:8]) + SUFFIXES[lookup.to])
    try:
        written = await asyncio.to_thread(lambda: write_export(path, _opened(room), lookup.to))
    except FileExistsError as error:
        raise OpRefused(f"{path} exists; choose another name") from error
    except TranscriptError as error:
        raise OpRefused(str(error)) from error
    except OSError as error:
        raise OpRefused(f"{path} cannot be written: {error.strerror}") from error
    return SessionExported(path=str(path), to=lookup.to, bytes=written)


def _target(lookup: ExportSession, base: str, name: str) -> Path:
    """The file that is meant; a name of our own never meets a file that is there."""
    path = Path(os.path.normpath(os.path.join(base, os.path.expanduser(lookup.path))))
    if lookup.path and not path.is_dir():
        return path
    stem, suffix = os.path.splitext(name)
    numbered = (path / (f"{stem}-{number}{suffix}" if number > 1 else name) for number in range(1, 1_000))
    return next((one for one in numbered if not os.path.lexists(one)), path / name)


def _opened(room: Room) -> Opened:
    started = room.session.started
    if room.transcript is not None:
        return open_found(FoundSession(agent=OWN, path=room.transcript, session_id=started.session_id))
    log = room.session.journal.main
    return Opened(
        agent=OWN,
        session_id=started.session_id,
        path=Path(),
        title=log.state.title,
        cwd=started.cwd,
        entries=log.conversation.chain(),
    )


def _file_name(title: str) -> str:
    """Letters and digits of any script, words joined; never empty, never hidden."""
    words = "".join(letter if letter.isalnum() else " " for letter in title).split()
    return "-".join(words)[:MAX_NAME_CHARS].strip("-") or "session"


SESSION: Rows = {
    LoadHistory: _history,
    RequestStatus: _status,
    RequestContext: _context,
    RequestReceipt: _receipt,
    PreviewRewind: _preview,
    PreviewUndo: _preview,
    PreviewRedo: _preview,
    ListInvocables: _names,
    ShowDiff: _diff,
    ExportSession: _export,
}
