"""The kept files of a session on disk: its moments, what going back to one would do, and doing it (`clew rewind`)."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clew.catalog.opening import Opened, open_named
from clew.host.workspace import Workspace
from clew.protocol.entries import EventEntry
from clew.protocol.event_kinds.context import FileRestore, Rewound
from clew.protocol.ids import SessionId
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.catalog import NamedSession
from clew.protocol.lookups.rewind import (
    FilesRestored,
    FindMoment,
    ListMoments,
    MomentFound,
    MomentsListed,
    PlannedFile,
    PreviewRestore,
    RestoreFiles,
    RestorePreviewed,
    RewindMoment,
)
from clew.transcript.errors import TranscriptError
from clew.transcript.log.lease import holder_of
from clew.transcript.log.writer import TranscriptWriter
from clew.undo.errors import NothingToRestore
from clew.undo.journal import FileJournal
from clew.undo.limits import OUT_OF_SCOPE
from clew.undo.lineage import lineage
from clew.undo.packs import PackStore
from clew.undo.plan import FilePlan, RestorePlan, only_paths, plan_restore
from clew.undo.points import Moment, find_moment, points
from clew.undo.preview import preview
from clew.undo.restore import Restored, apply_plan, write_record
from clew.undo.state import ChangingCall, Checkpoint, did_to, path_of, path_text
from clew.undo.workspace import store_folder


class KeptSession(Struct, frozen=True):
    """A session on disk with what is kept of its files, and what was noticed of both so far."""

    opened: Opened
    journal: FileJournal
    notes: list[str]


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """One of them, in a thread. Raises LookupRefused, with the notes so far."""
    assert isinstance(lookup, ListMoments | FindMoment | PreviewRestore | RestoreFiles)
    return await asyncio.to_thread(_answered, lookup, workspace)


def _answered(lookup: ListMoments | FindMoment | PreviewRestore | RestoreFiles, workspace: Workspace) -> Answer:
    notes: list[str] = []
    try:
        kept = _kept(lookup.session, notes)
        return ANSWERS[type(lookup)](lookup, kept, workspace)
    except (TranscriptError, NothingToRestore) as error:
        raise LookupRefused(str(error), tuple(notes)) from error


def _kept(session: NamedSession, notes: list[str]) -> KeptSession:
    opened = open_named(session)
    journal = FileJournal(opened.path, forked_from=lineage(opened.path))
    if journal.damaged:
        notes.append(f"{journal.damaged} damaged lines of {journal.path} were passed over")
    return KeptSession(opened, journal, notes)


def moments_listed(_: ListMoments, kept: KeptSession, _place: Workspace) -> MomentsListed:
    """The prompts, each with what was done to files after it."""
    moments = [
        RewindMoment(
            turn=point.number,
            entry=point.entry,
            at=point.at,
            prompt=point.text,
            changes=sum(len(item.changes) for item in point.checkpoints),
            paths=len({change.path for item in point.checkpoints for change in item.changes}),
            warnings=tuple(line for item in point.checkpoints for line in item.warnings),
        )
        for point in points(kept.opened.entries, kept.journal.checkpoints)
    ]
    return MomentsListed(session_id=kept.opened.session_id, moments=tuple(moments), notes=tuple(kept.notes))


def moment_found(lookup: FindMoment, kept: KeptSession, _place: Workspace) -> MomentFound:
    """Raises NothingToRestore."""
    moment = find_moment(kept.opened.entries, lookup.to)
    return MomentFound(session_id=kept.opened.session_id, resume_at=moment.resume_at, notes=tuple(kept.notes))


class _Way(Struct, frozen=True):
    """What a restore takes back."""

    moment: Moment | None
    chosen: tuple[Checkpoint, ...]
    plan: RestorePlan
    files: tuple[FilePlan, ...]


def _way(lookup: PreviewRestore | RestoreFiles, kept: KeptSession, store: PackStore) -> _Way:
    moment = find_moment(kept.opened.entries, lookup.to) if lookup.to else None
    chosen = kept.journal.since(moment.at) if moment is not None else kept.journal.last_restore()
    if not any(item.changes or item.warnings for item in chosen):
        raise NothingToRestore("no file was changed after that" if moment is not None else "there is nothing to redo")
    roots = list(dict.fromkeys(path_of(root) for item in chosen for root in item.roots))
    plan = plan_restore(chosen, store, roots, steps=kept.journal.steps)
    files = plan.files
    if lookup.only:
        files = only_paths(plan, [str(_resolved(path)) for path in lookup.only])
        if not files:
            raise NothingToRestore("none of these paths would change")
    return _Way(moment, chosen, plan, files)


def restore_previewed(lookup: PreviewRestore, kept: KeptSession, place: Workspace) -> RestorePreviewed:
    """Nothing is touched. Raises NothingToRestore."""
    with closing(_store(kept, place)) as store:
        way = _way(lookup, kept, store)
        return RestorePreviewed(
            session_id=kept.opened.session_id,
            files=tuple(map(_planned, way.files)),
            diffs=tuple(preview(file, store) for file in way.files),
            warnings=way.plan.warnings,
            roots=tuple(map(path_text, way.plan.roots)),
            not_covered=OUT_OF_SCOPE,
            resume_at=way.moment.resume_at if way.moment is not None else None,
            notes=tuple(kept.notes),
        )


def files_restored(lookup: RestoreFiles, kept: KeptSession, place: Workspace) -> FilesRestored:
    """Restore, and write it into the session's log. Raises NothingToRestore."""
    opened = kept.opened
    with closing(_store(kept, place)) as store:
        way = _way(lookup, kept, store)
        if (holder := holder_of(opened.path)) is not None:
            kept.notes.append(f"the session is open in {holder}; its agent may be writing files")
        call = ChangingCall(session=SessionId(opened.session_id), turn=0, tool="rewind", subject=lookup.to or "redo")
        only = [file.path for file in way.files] if lookup.only else None
        done = apply_plan(
            way.plan, store=store, journal=kept.journal, call=call, only=only, force=lookup.force, leave_open=True
        )
    if done.done:
        _log(opened, done, way.chosen, redo=not lookup.to)
    if done.checkpoint is not None:
        done = replace(done, warnings=(*done.warnings, *write_record(kept.journal, done.checkpoint)))
    return FilesRestored(
        session_id=opened.session_id,
        files=tuple(map(_planned, way.plan.files)),
        done=done.done,
        skipped=done.skipped,
        failed=done.failed,
        planned=way.plan.warnings,
        warnings=done.warnings,
        roots=tuple(map(path_text, way.plan.roots)),
        not_covered=OUT_OF_SCOPE,
        checkpoint=done.checkpoint.id if done.checkpoint else None,
        resume_at=way.moment.resume_at if way.moment is not None else None,
        notes=tuple(kept.notes),
    )


def _log(opened: Opened, done: Restored, chosen: tuple[Checkpoint, ...], *, redo: bool) -> None:
    """Into the session's log, for whoever comes back to it; not while another process writes it."""
    calls = tuple(item.call.call for item in chosen if item.call.call is not None)
    made = done.checkpoint.changes if done.checkpoint is not None else ()
    files = tuple(FileRestore(path=item.path, did=did_to(item.before, item.after)) for item in made)
    event = Rewound(direction="redo" if redo else "rewind", scope="files", to=None, files=files, call_ids=calls)
    session = SessionId(opened.session_id)
    at = done.checkpoint.at if done.checkpoint is not None else ""
    with suppress(OSError, TranscriptError), closing(TranscriptWriter(opened.path, session)) as writer:
        writer.append(EventEntry(session_id=session, timestamp=at, event=event))


def _store(kept: KeptSession, place: Workspace) -> PackStore:
    return PackStore(store_folder(place.home, kept.opened.path) / "packs")


def _planned(file: FilePlan) -> PlannedFile:
    return PlannedFile(
        path=file.path,
        action=file.action,
        did=did_to(file.current, file.target),
        conflict=file.conflict,
        impossible=file.impossible,
    )


def _resolved(path: str) -> Path:
    whole = Path(os.path.abspath(os.path.expanduser(path)))
    return Path(os.path.realpath(whole.parent)) / whole.name


ANSWERS: Mapping[type[Lookup[Any]], Callable[[Any, KeptSession, Workspace], Answer]] = {
    ListMoments: moments_listed,
    FindMoment: moment_found,
    PreviewRestore: restore_previewed,
    RestoreFiles: files_restored,
}
