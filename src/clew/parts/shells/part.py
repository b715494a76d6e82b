"""Commands a person typed (`!cmd`): run as in their own shell; what they print joins the conversation."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from clew.agents.runner import Job
from clew.agents.undo_hook import UndoHook
from clew.host.part import Effect, OpHandlers, OpRefused, Part, PartSession
from clew.host.session import Session
from clew.protocol.display import ChangesBlock, DiffBlock
from clew.protocol.events import Event, ShellEnded, ShellProgress, ShellStarted
from clew.protocol.ids import MAIN_AGENT, EntryId, RequestId, new_entry_id, new_uuid
from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Interrupt, Op, RunShell
from clew.text.redact import redact
from clew.tools.extras import process, shells
from clew.tools.output_buffer import OutputBuffer
from clew.tools.session import ToolSession

MAX_COMMAND_BYTES = 130_000
MAX_OPEN_LINE_CHARS = 2_000
"""A line that has no end yet is shown in pieces of this size."""
ONLY_CD = re.compile(r"\s*cd(?:\s+[^;&|\n]*)?\s*")


class Typed:
    """One command on its way."""

    def __init__(self, command: str, cwd: str) -> None:
        self.command = command
        self.cwd = cwd
        self.request_id = RequestId(new_uuid())
        self.entry_id = new_entry_id()
        self.output = OutputBuffer(None)  # no file: what is kept must be free of secrets
        self.exit_code: int | None = None
        self.problem = ""
        self.made: list[DiffBlock | ChangesBlock] = []
        """What it did to files."""

    def started(self) -> ShellStarted:
        """It runs now."""
        return ShellStarted(request_id=self.request_id, command=redact(self.command), cwd=self.cwd)

    def ended(self, parent: EntryId | None) -> ShellEnded:
        """What there is to tell, complete or stopped."""
        return ShellEnded(
            request_id=self.request_id,
            entry_id=self.entry_id,
            parent_id=parent,
            command=redact(self.command),
            output=redact(self.output.text()) + self.problem,
            exit_code=self.exit_code,
            changes=next((block for block in self.made if isinstance(block, ChangesBlock)), None),
            diffs=tuple(block for block in self.made if isinstance(block, DiffBlock)),
        )


class WholeLines:
    """Passes text on line by line without secrets: one that is cut in two would not be known as one."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._open = ""

    def add(self, text: str) -> None:
        """Take a piece."""
        self._open += text
        end = max(self._open.rfind("\n"), self._open.rfind("\r")) + 1
        if not end and len(self._open) > MAX_OPEN_LINE_CHARS:
            end = len(self._open)
        whole, self._open = self._open[:end], self._open[end:]
        if whole:
            self._show(redact(whole))

    def flush(self) -> None:
        """Nothing more comes."""
        if self._open:
            self._show(redact(self._open))
            self._open = ""


class ShellPart(Part):
    """Between turns a job of the main agent, so that input waits for it; while a turn runs, a task beside it."""

    def __init__(self) -> None:
        self._beside: set[asyncio.Task[None]] = set()

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session: Session = own.session
        self._tools: ToolSession = own.toolbox.session
        self._undo: UndoHook | None = own.toolbox.undo

    def ops(self) -> OpHandlers:
        """A command that a person typed."""
        return {RunShell: self._understood}

    def heard(self, asked: Op | Lookup[Any]) -> None:
        """An interrupt stops what runs beside a turn; a job is stopped by its runner."""
        if isinstance(asked, Interrupt) and asked.agent == MAIN_AGENT:
            self._stop_beside()

    async def _understood(self, op: RunShell) -> Effect:
        """What running it means. Raises OpRefused."""
        command = op.command
        if self._session.lost:
            raise OpRefused(f"nothing was run: {self._session.lost}")
        if not command.strip():
            raise OpRefused("there is no command to run")
        try:
            size = len(command.encode())
        except UnicodeEncodeError as error:
            raise OpRefused("the command is not valid text; nothing was run") from error
        if "\0" in command or size > MAX_COMMAND_BYTES:
            raise OpRefused("a command holds no NUL character and at most 130,000 bytes; nothing was run")
        if not self._tools.shells.available:
            raise OpRefused("there is no shell on this machine; nothing was run")
        return lambda: self._begin(Typed(command, self._tools.cwd))

    def _stop_beside(self) -> None:
        for task in self._beside:
            task.cancel()

    async def stop(self) -> None:
        """Stop everything and let it be told."""
        self._stop_beside()
        await asyncio.gather(*self._beside, return_exceptions=True)

    def _begin(self, typed: Typed) -> None:
        runner = self._session.main
        if runner.in_turn:
            task = asyncio.create_task(self._run_beside(typed))
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
            return
        runner.perform(Job(run=lambda: self._run(typed), stopped=lambda: typed.ended(runner.agent.conversation.leaf)))

    async def _run(self, typed: Typed) -> AsyncGenerator[Event]:
        yield typed.started()
        await self._wait(typed, beside=False)
        yield typed.ended(self._session.main.agent.conversation.leaf)
        self._tell_about_cd(typed)

    async def _run_beside(self, typed: Typed) -> None:
        self._session.publish(typed.started())
        try:
            await self._wait(typed, beside=True)
        finally:
            self._session.main.join(typed.ended)
        self._tell_about_cd(typed)

    async def _wait(self, typed: Typed, *, beside: bool) -> None:
        """Until it ended. Cancelled: it and all it started are gone when this returns."""
        async with self._kept(typed, beside=beside):
            try:
                await self._execute(typed)
            except process().ProcessError as error:
                typed.problem = f"(it could not be started: {error})"

    @asynccontextmanager
    async def _kept(self, typed: Typed, *, beside: bool) -> AsyncGenerator[None]:
        if self._undo is None:
            yield
            return
        async with self._undo.around_typed(typed.command, typed.entry_id, beside=beside) as typed.made:
            yield

    async def _execute(self, typed: Typed) -> None:
        request_id = typed.request_id
        lines = WholeLines(lambda text: self._session.publish(ShellProgress(request_id=request_id, text=text)))
        progress = shells().Progress(lines.add)

        def take(data: bytes) -> None:
            typed.output.add(data)
            progress.add(data)

        try:
            running = await self._tools.shells.start_typed(typed.command, typed.cwd, take)
            typed.exit_code = (await running.wait()).code
        finally:
            progress.flush()
            lines.flush()

    def _tell_about_cd(self, typed: Typed) -> None:
        if ONLY_CD.fullmatch(typed.command):
            self._session.notice("info", f"`cd` moves only the command it is in: the session stays in {typed.cwd}")
