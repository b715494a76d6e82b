"""Answers about the place a session works in: shells, memory, changes, export, status, checks, colours."""

import asyncio
import os
from pathlib import Path

from clew.catalog.exporting import SUFFIXES, write_export
from clew.catalog.found_session import OWN, FoundSession
from clew.catalog.opening import Opened, open_found
from clew.host.background_shells import about_shells
from clew.host.kept_choices import keep_choice
from clew.host.memory_files import add_line, adds_to, project_memory, remove_line
from clew.host.planning import Planning
from clew.host.refusal import OpRefused
from clew.host.room import Room
from clew.host.status import status_rows
from clew.host.workspace import Workspace
from clew.protocol.events import (
    ChecksShown,
    DiffShown,
    Event,
    LineRemembered,
    MemoryListed,
    PlanOpened,
    PlanShown,
    SessionExported,
    StatusShown,
    ThemeChanged,
)
from clew.protocol.lookup_events import CheckRow, MemoryRow, MemoryScope
from clew.protocol.ops import (
    ExportSession,
    ForgetLine,
    ListMemory,
    ListShells,
    LookupOp,
    OpenPlan,
    Remember,
    RequestStatus,
    RunChecks,
    SavePlan,
    SetTheme,
    ShowDiff,
    ShowPlan,
    ShowShell,
    StopShell,
)
from clew.transcript.errors import TranscriptError
from clew.undo.errors import NothingToRestore, UndoError

MAX_DIFF_FILES = 200
THEME_KEY = ("screen", "theme")
MAX_NAME_CHARS = 60


async def place_answer(op: LookupOp, room: Room) -> Event:
    """The answer to one of these questions. Raises OpRefused."""
    match op:
        case ListShells() | ShowShell() | StopShell():
            if room.tools is None:
                raise OpRefused("this session runs no commands")
            return await about_shells(op, room.tools)
        case ShowDiff():
            return await _diff(op, room)
        case RequestStatus():
            return StatusShown(op_id=op.op_id, rows=await asyncio.to_thread(status_rows, room))
        case ExportSession():
            return await _export(op, room)
        case ShowPlan() | OpenPlan() | SavePlan():
            return _plan(op, room)
        case _:
            if room.workspace is None:
                raise OpRefused("this session has no place of its own")
            return await _with_workspace(op, room, room.workspace)


async def _with_workspace(op: LookupOp, room: Room, workspace: Workspace) -> Event:
    match op:
        case Remember():
            return _remember(op, room, workspace)
        case ForgetLine():
            return _forget(op, room)
        case ListMemory():
            return _memory(op, workspace)
        case SetTheme():
            return _theme(op, workspace)
        case RunChecks():
            rows = await asyncio.to_thread(_checks, workspace)
            return ChecksShown(op_id=op.op_id, checks=(*rows, *(row for part in room.brought for row in part.checks())))
        case _:
            raise OpRefused("this is not built yet")


def _remember(op: Remember, room: Room, workspace: Workspace) -> LineRemembered:
    try:
        line, path, scope, created = add_line(workspace, op.line)
    except ValueError as error:
        raise OpRefused(str(error)) from error
    except OSError as error:
        raise OpRefused(f"nothing was saved: {error.filename or ''} {error.strerror}".replace("  ", " ")) from error
    if room.tools is not None:
        room.tools.remembered.append((str(path), line))
    if room.reminders is not None:
        room.reminders.add(f"[The user added this line to the memory file {path}: {line}]")
    return LineRemembered(op_id=op.op_id, line=line, path=str(path), scope=scope, created=created)


def _forget(op: ForgetLine, room: Room) -> LineRemembered:
    kept = room.tools.remembered if room.tools is not None else []
    if not kept:
        raise OpRefused("this session added no line to a memory file")
    path, line = kept[-1]
    try:
        found = remove_line(Path(path), line)
    except OSError as error:
        raise OpRefused(f"{path} was left as it is: {error.strerror}") from error
    if not found:
        raise OpRefused(f"the line is not in {path} any more as it was written; nothing was changed")
    kept.pop()
    if room.reminders is not None:
        room.reminders.add(f"[The user took this line out of the memory file {path} again: {line}]")
    scope: MemoryScope = "user" if room.workspace and Path(path).is_relative_to(room.workspace.home) else "project"
    return LineRemembered(op_id=op.op_id, line=line, path=path, scope=scope, removed=True)


def _plan(op: ShowPlan | OpenPlan | SavePlan, room: Room) -> PlanShown | PlanOpened:
    planning = next((part for part in room.brought if isinstance(part, Planning)), None)
    if planning is None:
        raise OpRefused("this session makes no plans")
    if isinstance(op, OpenPlan):
        return planning.opened(op.op_id)
    if isinstance(op, SavePlan):
        try:
            planning.save(op.plan)
        except OSError as error:
            raise OpRefused(f"the plan was not saved: {error.strerror}") from error
    return planning.shown(op.op_id, saved=isinstance(op, SavePlan))


def _memory(op: ListMemory, workspace: Workspace) -> MemoryListed:
    """Read anew: a file may have been edited since the session began."""
    memory = project_memory(workspace)
    rows = tuple(
        MemoryRow(path=file.path, scope=file.level, chars=file.chars, imported_by=file.imported_by)
        for file in memory.files
    )
    target = str(adds_to(workspace)[0]) if workspace.settings.memory.enabled else ""
    return MemoryListed(op_id=op.op_id, files=rows, adds_to=target, notes=memory.notes)


def _theme(op: SetTheme, workspace: Workspace) -> ThemeChanged:
    return ThemeChanged(theme=op.theme, saved_in=keep_choice(workspace, THEME_KEY, op.theme))


def _checks(workspace: Workspace) -> tuple[CheckRow, ...]:
    from clew.host.checks import examine  # the checks load what nobody else needs

    return tuple(
        CheckRow(name=check.name, state=check.state, summary=check.summary, details=check.details)
        for check in examine(workspace.env, workspace.cwd)
    )


async def _diff(op: ShowDiff, room: Room) -> DiffShown:
    if room.undo is None:
        raise OpRefused("this session is not kept, so nobody knows what it changed; git diff may tell")
    try:
        keeper = await room.undo.keeper()
        plan = await keeper.plan_since("")
        wanted = [file for file in plan.files if op.path in file.path]
        blocks = await keeper.changed(wanted[:MAX_DIFF_FILES])
    except NothingToRestore:
        return DiffShown(op_id=op.op_id, files=())
    except (UndoError, OSError) as error:
        raise OpRefused(f"the kept files cannot be read: {error}") from error
    return DiffShown(
        op_id=op.op_id, files=blocks, left_out=max(0, len(wanted) - MAX_DIFF_FILES), warnings=plan.warnings
    )


async def _export(op: ExportSession, room: Room) -> SessionExported:
    base = room.tools.cwd if room.tools is not None else room.session.started.cwd
    title = room.session.journal.main.state.title
    path = _target(op, base, _file_name(title or room.session.started.session_id[:8]) + SUFFIXES[op.to])
    try:
        written = await asyncio.to_thread(lambda: write_export(path, _opened(room), op.to))
    except FileExistsError as error:
        raise OpRefused(f"{path} exists; choose another name") from error
    except TranscriptError as error:
        raise OpRefused(str(error)) from error
    except OSError as error:
        raise OpRefused(f"{path} cannot be written: {error.strerror}") from error
    return SessionExported(op_id=op.op_id, path=str(path), to=op.to, bytes=written)


def _target(op: ExportSession, base: str, name: str) -> Path:
    """The file that is meant; a name of our own never meets a file that is there."""
    path = Path(os.path.normpath(os.path.join(base, os.path.expanduser(op.path))))
    if op.path and not path.is_dir():
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
