"""Undo for a session on an event loop: everything that blocks runs in threads, nothing stalls a step."""

import asyncio
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from clew.protocol.display import DiffBlock
from clew.protocol.entries import Entry
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, SessionId
from clew.undo import preview, restore
from clew.undo.errors import NothingToRestore
from clew.undo.limits import UndoLimits
from clew.undo.plan import FilePlan, RestorePlan, plan_rest, plan_restore
from clew.undo.points import prompts_of
from clew.undo.restore import Restored
from clew.undo.scan import Stopped
from clew.undo.state import ChangingCall, Checkpoint, bounded
from clew.undo.workspace import KeptCall, UndoWorkspace

T = TypeVar("T")


class ScanProgress(Struct, frozen=True, kw_only=True):
    """How far the first scan is."""

    files: int
    bytes: int
    done: bool = False
    text: str = ""
    """When it is done: one sentence with everything that is not kept."""


class UndoKeeper:
    """One per session. A cancelled call still gets its checkpoint: the thread goes on and writes it."""

    def __init__(
        self,
        *,
        home: Path,
        roots: Sequence[Path],
        transcript: Path,
        limits: UndoLimits | None = None,
    ) -> None:
        """Creates nothing on disk. The roots are all directories the session works in, the project first."""
        self._make = lambda: UndoWorkspace(home=home, roots=roots, transcript=transcript, limits=limits or UndoLimits())
        self._made: UndoWorkspace | None = None
        self._making = threading.Lock()
        self._done = asyncio.Event()
        self._started = False

    async def start(self, progress: Callable[[ScanProgress], None] | None = None) -> None:
        """Begin the first scan in the background and return at once. `progress` is called on this loop."""
        if self._started:
            return
        self._started = True
        loop = asyncio.get_running_loop()

        def tell(news: ScanProgress) -> None:
            if progress is not None:
                progress(news)
            if news.done:
                self._done.set()

        def send(news: ScanProgress) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, news)

        def scan() -> None:
            place = self._workspace()
            try:
                text = place.first_scan(lambda files, size: send(ScanProgress(files=files, bytes=size)))
            except Stopped:
                return
            except Exception as error:  # the boundary of the thread: undo is off, and that is told
                place.trouble = text = f"the workspace could not be scanned for undo: {error}"
            send(ScanProgress(files=place.files, bytes=place.bytes, done=True, text=text))

        # A daemon: a session that ends in the middle of a scan does not wait for it, and packs bear being cut off.
        threading.Thread(target=scan, name="clew-undo-scan", daemon=True).start()

    async def wait_ready(self, timeout_s: float) -> bool:
        """Wait for the first scan, but not for long; whether shell commands are covered now."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._done.wait()
        except TimeoutError:
            return False
        return self._workspace().ready

    async def before(self, call: ChangingCall, paths: Sequence[str] | None = None) -> KeptCall:
        """Keep the state before an effectful call: the files that a file tool names, or None for a shell command."""
        return await self._in_thread(lambda place: place.before(call, paths))

    async def after(self, opened: KeptCall) -> Checkpoint:
        """What the call changed. It is in the journal already if it changed anything or has a warning."""
        checkpoint = await self._in_thread(lambda place: place.after(opened))
        self._sync_soon()
        return checkpoint

    async def collect(self, call: ChangingCall) -> Checkpoint | None:
        """What a background command changed since the last look. Without it the next `before` passes over that."""
        return await self._in_thread(lambda place: place.collect(call))

    async def coverage(self, paths: Sequence[str] | None = None, *, named: bool = False) -> tuple[str, ...]:
        """Why effects on these paths (None: anywhere inside) could not be restored; see `Workspace.coverage`."""
        return await self._in_thread(lambda place: place.coverage(paths, named=named))

    async def plan_undo(self) -> RestorePlan:
        """Back to before the newest turn that changed files. Raises NothingToRestore."""
        return await self._plan(lambda place: place.journal.last_turn(), "nothing to undo")

    async def plan_rest(self) -> tuple[RestorePlan, Checkpoint] | None:
        """The rest of a restore whose process died in it, and its record; None: every restore came to its end."""

        def work(place: UndoWorkspace) -> tuple[RestorePlan, Checkpoint] | None:
            cut = place.journal.unfinished()
            if cut is None:
                return None
            return plan_rest(cut, place.journal.steps.get(cut.id, {}), place.store, place.roots), cut

        return await self._in_thread(work)

    async def plan_redo(self) -> RestorePlan:
        """Take the last undo back. Raises NothingToRestore."""
        return await self._plan(lambda place: place.journal.last_restore(), "nothing to redo")

    async def plan_since(self, moment: str) -> RestorePlan:
        """Back to the files as they were at a moment of the conversation, an entry's timestamp."""
        return await self._plan(lambda place: place.journal.since(moment), "no file changed since then")

    async def plan_calls(self, ids: Collection[str]) -> RestorePlan:
        """Take back single calls, by the ids of their checkpoints, or of the main agent's calls."""

        def main_call(item: Checkpoint) -> str | None:
            return item.call.call if item.call.agent == MAIN_AGENT else None

        def chosen(place: UndoWorkspace) -> tuple[Checkpoint, ...]:
            return tuple(item for item in place.journal.checkpoints if item.id in ids or main_call(item) in ids)

        return await self._plan(chosen, "these calls changed no files")

    async def apply(
        self,
        plan: RestorePlan,
        call: ChangingCall,
        *,
        only: Collection[str] | None = None,
        consent: Collection[str] = (),
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
        finishes: Checkpoint | None = None,
        leave_open: bool = False,
    ) -> Restored:
        """Carry a plan out; see `apply_plan`. `progress` is called on this loop."""
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            if progress is not None:
                loop.call_soon_threadsafe(progress, done, total)

        def work(place: UndoWorkspace) -> Restored:
            place.settle()
            place.remove_old_drafts()
            done = restore.apply_plan(
                plan,
                store=place.store,
                journal=place.journal,
                call=call,
                only=only,
                consent=consent,
                force=force,
                progress=tell,
                finishes=finishes,
                leave_open=leave_open,
            )
            place.settle()
            return done

        return await self._in_thread(work)

    async def close_record(self, record: Checkpoint) -> list[str]:
        """End the record of a restore that was left open; what could not be written is one line for a person."""
        return await self._in_thread(lambda place: restore.write_record(place.journal, record))

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The file history of this session and of those it was forked from, oldest first."""
        return await self._in_thread(lambda place: place.journal.checkpoints)

    async def preview(self, plan: RestorePlan) -> tuple[DiffBlock, ...]:
        """A plan as diffs, in its order."""
        return await self._in_thread(lambda place: tuple(preview.preview(file, place.store) for file in plan.files))

    async def changed(self, files: Sequence[FilePlan]) -> tuple[DiffBlock, ...]:
        """The paths of a plan as what was done to them: from the state it would bring back to what is there now."""
        return await self._in_thread(lambda place: tuple(preview.made_change(file, place.store) for file in files))

    async def made_by(self, checkpoint: Checkpoint) -> tuple[DiffBlock, ...]:
        """What a call did to files that are there now, as diffs: of many files the first, of long diffs the figures."""
        return await self._in_thread(lambda place: preview.made_by(checkpoint, place.store))

    async def close(self) -> None:
        """Stop a scan that still runs, save, let go."""
        if self._made is not None:
            await asyncio.to_thread(self._made.close)

    async def _plan(self, choose: Callable[[UndoWorkspace], tuple[Checkpoint, ...]], nothing: str) -> RestorePlan:
        def work(place: UndoWorkspace) -> RestorePlan:
            chosen = choose(place)
            if not any(item.changes or item.warnings for item in chosen):
                raise NothingToRestore(nothing)
            return plan_restore(chosen, place.store, place.roots, steps=place.journal.steps)

        return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[UndoWorkspace], T]) -> T:
        task = asyncio.ensure_future(asyncio.to_thread(lambda: work(self._workspace())))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    def _workspace(self) -> UndoWorkspace:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def _sync_soon(self) -> None:
        if self._made is not None:
            asyncio.get_running_loop().run_in_executor(None, self._made.store.sync)


def changing_call(
    session: SessionId,
    turn: int,
    chain: Sequence[Entry],
    *,
    tool: str,
    subject: str,
    call: CallId | None = None,
    agent: AgentId = MAIN_AGENT,
    entry: EntryId | None = None,
) -> ChangingCall:
    """Whose doing a change is; `entry`: what it hangs on instead of the last prompt of the conversation."""
    prompts = prompts_of(chain)
    return ChangingCall(
        session=session,
        turn=turn,
        call=call,
        agent=agent,
        entry=entry or (prompts[-1].uuid if prompts else None),
        tool=tool,
        subject=bounded(subject),
    )
