"""Answers about the place a session works in: rules, models, sessions, files, memory files, checks."""

import asyncio
from pathlib import Path

from clew.host.lookup_desk import Desk, Rows
from clew.parts.memory.files import add_line, adds_to, project_memory, remove_line
from clew.host.refusal import OpRefused
from clew.host.workspace import Workspace
from clew.permissions.rules import RuleError
from clew.protocol.lookups.place import (
    CheckRow,
    ChecksShown,
    FilesFound,
    FindFiles,
    ForgetLine,
    LineRemembered,
    ListMemory,
    ListSessions,
    MemoryListed,
    MemoryRow,
    MemoryScope,
    PreviewSession,
    Remember,
    RunChecks,
    SessionPreviewed,
    SessionsListed,
)
from clew.protocol.lookups.rules_and_models import (
    AllowRule,
    ListModels,
    ListRules,
    ModelsListed,
    RemoveRule,
    RulesListed,
)

MAX_FILES = 500


async def _models(lookup: ListModels, *, desk: Desk) -> ModelsListed:
    rows = await desk.room.models()
    return ModelsListed(models=tuple(row.name for row in rows), rows=rows)


async def _rules(lookup: ListRules | AllowRule | RemoveRule, *, desk: Desk) -> RulesListed:
    permits = desk.room.permits
    try:
        if isinstance(lookup, AllowRule):
            permits.allow(lookup.rule)
        elif isinstance(lookup, RemoveRule):
            permits.forget(lookup.rule)
    except RuleError as error:
        raise OpRefused(str(error)) from error
    except KeyError as error:
        words = f'{error.args[0]} was not saved with "always"; rules in settings are changed there'
        raise OpRefused(words) from error
    except OSError as error:
        raise OpRefused(f"the saved rules cannot be changed: {error.strerror}") from error
    if not isinstance(lookup, ListRules):
        desk.room.session.pending.reconsider()
    return RulesListed(mode=permits.policy.mode, rules=permits.rows())


async def _sessions(lookup: ListSessions, *, desk: Desk) -> SessionsListed:
    lists = desk.lists
    if lists.sessions is None:
        raise OpRefused("there is no list of sessions here")
    rows = await lists.sessions(lookup.query, lookup.limit)
    lists.own |= {row.session_id: Path(row.path) for row in rows if row.agent == "clew" and row.path}
    return SessionsListed(sessions=rows)


async def _preview(lookup: PreviewSession, *, desk: Desk) -> SessionPreviewed:
    lists = desk.lists
    if lists.preview is None:
        raise OpRefused("there is no list of sessions here")
    if not lookup.words:
        return SessionPreviewed(session=lookup.session, lines=await lists.preview(lookup.session))
    path, orienting = lists.own.get(lookup.session), desk.room.session.orienting
    recap = await orienting.words_for(path) if path is not None and orienting is not None else ""
    return SessionPreviewed(session=lookup.session, lines=(), recap=recap)


async def _files(lookup: FindFiles, *, desk: Desk) -> FilesFound:
    room = desk.room
    if room.workspace is None:
        raise OpRefused("this session has no project to look for files in")
    if room.files is None:
        from clew.parts.files.index import FileIndex, project_files  # loaded by the first `@`

        workspace = room.workspace
        room.files = FileIndex(lambda: project_files(workspace))
        room.session.beside.append(room.files.close)
    rows = await room.files.find(lookup.query, min(lookup.limit, MAX_FILES))
    rows = (*(name for part in room.brought for name in part.found(lookup.query)), *rows)
    return FilesFound(query=lookup.query, rows=rows)


def _workspace(desk: Desk) -> Workspace:
    if desk.room.workspace is None:
        raise OpRefused("this session has no place of its own")
    return desk.room.workspace


async def _checked(lookup: RunChecks, *, desk: Desk) -> ChecksShown:
    rows = await asyncio.to_thread(_checks, _workspace(desk))
    return ChecksShown(checks=(*rows, *(row for part in desk.room.brought for row in part.checks())))


async def _remember(lookup: Remember, *, desk: Desk) -> LineRemembered:
    room, workspace = desk.room, _workspace(desk)
    try:
        line, path, scope, created = add_line(workspace, lookup.line)
    except ValueError as error:
        raise OpRefused(str(error)) from error
    except OSError as error:
        raise OpRefused(f"nothing was saved: {error.filename or ''} {error.strerror}".replace("  ", " ")) from error
    if room.tools is not None:
        room.tools.remembered.append((str(path), line))
    if room.reminders is not None:
        room.reminders.add(f"[The user added this line to the memory file {path}: {line}]")
    return LineRemembered(line=line, path=str(path), scope=scope, created=created)


async def _forget(lookup: ForgetLine, *, desk: Desk) -> LineRemembered:
    room = desk.room
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
    return LineRemembered(line=line, path=path, scope=scope, removed=True)


async def _memory(lookup: ListMemory, *, desk: Desk) -> MemoryListed:
    """Read anew: a file may have been edited since the session began."""
    workspace = _workspace(desk)
    memory = project_memory(workspace)
    rows = tuple(
        MemoryRow(path=file.path, scope=file.level, chars=file.chars, imported_by=file.imported_by)
        for file in memory.files
    )
    target = str(adds_to(workspace)[0]) if workspace.settings.memory.enabled else ""
    return MemoryListed(files=rows, adds_to=target, notes=memory.notes)


def _checks(workspace: Workspace) -> tuple[CheckRow, ...]:
    from clew.parts.doctor.checks import examine  # the checks load what nobody else needs

    return tuple(
        CheckRow(name=check.name, state=check.state, summary=check.summary, details=check.details)
        for check in examine(workspace.env, workspace.cwd)
    )


PLACE: Rows = {
    ListModels: _models,
    ListRules: _rules,
    AllowRule: _rules,
    RemoveRule: _rules,
    ListSessions: _sessions,
    PreviewSession: _preview,
    FindFiles: _files,
    Remember: _remember,
    ForgetLine: _forget,
    ListMemory: _memory,
    RunChecks: _checked,
}
