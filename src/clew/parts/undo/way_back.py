"""The way back: what /undo, /redo and /rewind do to files and to the conversation, as a preview or for real."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from clew.agents.undo_hook import UndoHook
from clew.host.part import OpRefused
from clew.host.session import Session
from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, EventEntry, SystemEntry, UserEntry
from clew.protocol.event_kinds.context import FileRestore, RewindScope
from clew.protocol.events import Choice, Notice, Question, Rewound
from clew.protocol.ids import CallId, EntryId
from clew.protocol.lookups.session import PreviewRedo, PreviewRewind, PreviewUndo, RewindPreviewed
from clew.protocol.ops import Redo, Rewind, Undo
from clew.text.figures import shown_path
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import is_boundary
from clew.transcript.index.digest import prompt_text
from clew.transcript.past.reader import iterate
from clew.undo.errors import NothingToRestore, UndoError
from clew.undo.keeper import UndoKeeper
from clew.undo.plan import FilePlan, RestorePlan, only_paths
from clew.undo.points import find_moment, prompts_of
from clew.undo.state import Checkpoint, did_to, path_of

Ask = Callable[[Question], Awaitable[bool]]
"""Puts a question to a person; whether the first choice was taken."""
DELETE = "Delete them"
MAX_NAMED = 5
WayBack = Undo | Redo | Rewind
Preview = PreviewUndo | PreviewRedo | PreviewRewind


class Route(Struct, kw_only=True):
    """Where to, and what lies on the way."""

    direction: Literal["rewind", "undo", "redo"]
    scope: RewindScope
    to: EntryId | None = None
    plan: RestorePlan | None = None
    files: tuple[FilePlan, ...] = ()
    prompts: tuple[str, ...] = ()
    finishes: Checkpoint | None = None
    """The restore that this is the rest of: its process died in it."""
    windows: tuple[int, ...] = ()


async def way_back(
    op: WayBack, session: Session, undo: UndoHook, path: Path | None, ask: Ask
) -> Callable[[], Awaitable[None]]:
    """Find out what the op means. What it returns does it; a redo that deletes files asks first. Raises OpRefused."""
    route, keeper = await _found(op, session, undo, path)
    deletes = [file for file in route.files if file.target.kind == "missing" and not (file.conflict or file.impossible)]

    async def go() -> None:
        if isinstance(op, Redo) and deletes and not await ask(_deletion(deletes, session.journal.main.stamp.cwd)):
            session.notice("info", "nothing was changed", code="undo")
            return
        try:
            await _go(op, route, session, undo, keeper)
        except (UndoError, OSError) as error:
            session.notice("error", f"it could not be carried out: {error}", code="undo")

    return go


def _deletion(files: Sequence[FilePlan], cwd: str) -> Question:
    shown = [shown_path(path_of(file.path), cwd) for file in files[:MAX_NAMED]]
    more = f" and {len(files) - MAX_NAMED:,} more" if len(files) > MAX_NAMED else ""
    what = "1 file" if len(files) == 1 else f"{len(files):,} files"
    return Question(
        question=f"/redo deletes {what}: {', '.join(shown)}{more}. Do it?",
        header="redo",
        choices=(Choice(label=DELETE), Choice(label="Leave everything as it is")),
    )


async def preview(lookup: Preview, session: Session, undo: UndoHook, path: Path | None) -> RewindPreviewed:
    """What the op would do that this is a preview of. Raises OpRefused."""
    route, keeper = await _found(lookup, session, undo, path)
    try:
        patches = {block.path: block.patch for block in await keeper.preview(route.plan)} if route.plan else {}
    except (UndoError, OSError) as error:
        raise OpRefused(f"it could not be carried out: {error}") from error
    return RewindPreviewed(
        to=route.to,
        files=tuple(
            FileRestore(
                path=file.path,
                did=did_to(file.current, file.target),
                patch=patches.get(file.path, ""),
                conflict=file.impossible or file.conflict,
            )
            for file in route.files
        ),
        warnings=route.plan.warnings if route.plan is not None else (),
        prompts=route.prompts,
        windows=route.windows,
    )


async def _found(
    asked: WayBack | Preview, session: Session, undo: UndoHook, path: Path | None
) -> tuple[Route, UndoKeeper]:
    try:
        keeper = await undo.keeper()
        return await _route(asked, session, keeper, path), keeper
    except UndoError as error:
        raise OpRefused(str(error)) from error
    except OSError as error:
        raise OpRefused(f"the kept files cannot be read: {error}") from error


async def _route(asked: WayBack | Preview, session: Session, keeper: UndoKeeper, path: Path | None) -> Route:
    match asked:
        case Undo() | PreviewUndo():
            if (rest := await keeper.plan_rest()) is not None:
                plan, cut = rest
                direction = "redo" if cut.call.tool == "redo" else "undo"
                return Route(direction=direction, scope="files", plan=plan, files=plan.files, finishes=cut)
            plan = await keeper.plan_undo()
            return Route(direction="undo", scope="files", plan=plan, files=plan.files)
        case Redo() | PreviewRedo():
            return await _forth(session, keeper)
        case Rewind() | PreviewRewind():
            return await _back(asked, await asyncio.to_thread(_whole, session, path), keeper)


async def _back(op: Rewind | PreviewRewind, chain: tuple[Entry, ...], keeper: UndoKeeper) -> Route:
    prompts = [prompt_text(entry) for entry in prompts_of(chain)]
    if not op.to:
        if isinstance(op, Rewind):
            raise OpRefused("name the prompt to go back to")
        return Route(
            direction="rewind", scope="conversation", prompts=_numbered(prompts, 0), windows=tuple(_windows(chain))
        )
    moment = find_moment(chain, op.to)
    remain = _said_until(chain, moment.resume_at)
    route = Route(direction="rewind", scope=op.scope, to=moment.resume_at)
    route.windows = tuple(number for number in _windows(chain) if number > remain)
    if op.scope != "files":
        route.prompts = _numbered(prompts, remain)
    if op.scope != "conversation":
        try:
            route.plan = await keeper.plan_since(moment.at)
        except NothingToRestore:
            if op.scope == "files":
                raise
        else:
            route.files = only_paths(route.plan, op.only) if op.only else route.plan.files
    return route


async def _forth(session: Session, keeper: UndoKeeper) -> Route:
    """Take the last restore back; the conversation too, when it was set back and nothing was said since."""
    entries = session.journal.main.conversation.entries
    place = next((at for at in range(len(entries) - 1, -1, -1) if _speaks(entries[at])), -1)
    entry = entries[place] if place >= 0 else None
    event = entry.event if isinstance(entry, EventEntry) else None
    if not isinstance(event, Rewound) or event.direction != "rewind" or event.scope == "files":
        plan = await keeper.plan_redo()
        return Route(direction="redo", scope="files", plan=plan, files=plan.files)
    tip = build_chain(entries[:place], session_id=session.started.session_id).leaf
    route = Route(direction="redo", scope="conversation", to=tip)
    if event.scope == "both" and any(not item.conflict for item in event.files):
        route.scope, route.plan = "both", await keeper.plan_redo()
        route.files = route.plan.files
    return route


def _speaks(entry: Entry) -> bool:
    return isinstance(entry, UserEntry | AssistantEntry) or (
        isinstance(entry, EventEntry) and isinstance(entry.event, Rewound)
    )


def _whole(session: Session, path: Path | None) -> tuple[Entry, ...]:
    """The conversation as people saw it, compacted and cleared parts included. What was before the window is read from
    the log where memory does not hold it."""
    name = session.started.session_id
    chain = build_chain(session.journal.main.conversation.entries, session_id=name, past_boundaries=True).entries
    if path is None or not chain or not is_boundary(chain[0]):
        return chain
    try:
        entries = [found.entry for found in iterate(path) if found.entry is not None]
    except OSError:
        return chain
    return build_chain(entries, session_id=name, past_boundaries=True).entries


def _windows(chain: Sequence[Entry]) -> Iterator[int]:
    """The numbers of the prompts that a new, empty window begins with."""
    for place, entry in enumerate(chain):
        about = entry.compact_metadata if isinstance(entry, SystemEntry) and is_boundary(entry) else None
        if place and (about or {}).get("trigger") == "clear":
            yield len(prompts_of(chain[:place])) + 1


def _said_until(chain: Sequence[Entry], tip: EntryId | None) -> int:
    """How many prompts remain."""
    place = next((at for at, entry in enumerate(chain) if isinstance(entry, ChainEntry) and entry.uuid == tip), -1)
    return len(prompts_of(chain[: place + 1]))


def _numbered(prompts: Sequence[str], first: int) -> tuple[str, ...]:
    return tuple(f"{number}  {text}" for number, text in enumerate(prompts[first:], first + 1))


async def _go(op: WayBack, route: Route, session: Session, undo: UndoHook, keeper: UndoKeeper) -> None:
    files: list[FileRestore] = []
    warnings: tuple[str, ...] = ()
    calls: tuple[CallId, ...] = ()
    record: Checkpoint | None = None
    if route.plan is not None:
        plan = route.plan
        only = [file.path for file in route.files]
        done = await keeper.apply(
            plan,
            undo.call_of(route.direction, ""),
            only=only,
            force=op.force,
            finishes=route.finishes,
            leave_open=True,
            progress=lambda count, total: session.notice(
                "info", f"restoring files: {count:,} of {total:,}", code="undo"
            ),
        )
        record = done.checkpoint
        made = record.changes if record is not None else ()
        files = [FileRestore(path=item.path, did=did_to(item.before, item.after)) for item in made]
        files += [FileRestore(path=path, conflict=why) for path, why in (*done.skipped, *done.failed)]
        warnings = (*plan.warnings, *done.warnings)
        undone = set(record.undoes) if record is not None else set[str]()
        taken = [item.call.call for item in await keeper.checkpoints() if item.id in undone]
        calls = tuple(call for call in taken if call is not None)
    session.publish(
        Rewound(direction=route.direction, scope=route.scope, to=route.to, files=tuple(files), call_ids=calls)
    )
    if record is not None:
        # Only now: whoever dies before this line is told that files were being restored, and /undo tells the rest.
        warnings = (*warnings, *await keeper.close_record(record))
    if warnings:
        session.publish(Notice(level="warning", text="not restored: " + "; ".join(warnings), code="undo"))
