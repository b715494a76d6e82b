"""A slash command without a screen: `clew -p "/context"`. What it asks is answered, and then it ends."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TextIO

from msgspec import UNSET
from msgspec.structs import replace

from clew.commands.answers import answer_lines
from clew.commands.base import CommandContext, CommandResult, SessionFacts
from clew.commands.context_view import context_data
from clew.commands.facts import facts_after
from clew.commands.registry import run_command
from clew.headless.printer import Printer
from clew.headless.run import HeadlessOptions, stream_lines, told
from clew.headless.stop_signals import INTERRUPTED_CODE, StopSignals, interrupts
from clew.protocol.client import Client
from clew.protocol.events import CompactionFailed, Envelope, Event, Notice, OpRejected, RecapReady, SnapshotTaken
from clew.protocol.ids import MAIN_AGENT, OpId
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.lookups.hooks import ApproveHooks
from clew.protocol.lookups.mcp import ApproveMcp
from clew.protocol.lookups.session import ContextShown
from clew.protocol.lookups.tasks import ListTasks, ShowTask, StopTask
from clew.protocol.ops import Close, Op, SetModel, SetPermissionMode
from clew.protocol.outcome import TurnOutcome
from clew.streaming.results import told_result
from clew.streaming.shapes.stream import ResultLine

FOR_A_PERSON = (ApproveHooks, ApproveMcp)
"""Lookups that nobody but a person at a terminal may send."""
FOR_LATER = (SetModel, SetPermissionMode, ListTasks, ShowTask, StopTask)
"""Ops and lookups that make sense only where the session goes on."""
NEEDS_TERMINAL = "this command needs a session that goes on; start `clew` and type it there"


def answers_without_a_screen(result: CommandResult, *, goes_on: bool = False) -> bool:
    """Whether everything that a command asks is answered by itself, in a session that ends with it or `goes_on`."""
    if result.leave or not all(op.ends_with for op in result.ops):
        return False
    refused = FOR_A_PERSON if goes_on else (*FOR_A_PERSON, *FOR_LATER)
    return not any(isinstance(one, refused) for one in (*result.ops, *result.lookups))


class CommandRun:
    """One command: its ops and lookups in order, each until its answer is there."""

    def __init__(self, text: str, *, goes_on: bool = False) -> None:
        self._text = text
        self._goes_on = goes_on
        self._facts = SessionFacts()
        self._ops: list[Op] = []
        self._lookups: list[Lookup[Any]] = []
        self._asked: Op | None = None
        self._looking: asyncio.Task[None] | None = None
        self._started = False
        self.lines: list[str] = []
        self.data: dict[str, Any] = {}
        self.error = ""
        self.fault: Exception | None = None
        """A bug of ours."""
        self.finished = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether all of it is answered."""
        return self.finished.is_set()

    @property
    def asking(self) -> bool:
        """Whether an op is to be answered by an event."""
        return self._asked is not None

    async def take(self, envelope: Envelope, client: Client) -> None:
        """Follow the session, and ask what is next."""
        event = envelope.event
        self._facts = facts_after(envelope, self._facts)
        match event:
            case SnapshotTaken() if not self._started:
                await self.begin(self._facts, client)
            case OpRejected() if self._asked is not None and event.op_id == self._asked.op_id:
                self.error = event.reason
                self.finished.set()
            case _ if self._asked is not None and isinstance(event, self._asked.ends_with):
                self._asked = None
                self._answered(event)
                await self._next(client)
            case _:
                pass

    async def begin(self, facts: SessionFacts, client: Client) -> None:
        """Ask what is first, of a session whose facts are known."""
        self._started = True
        self._facts = facts
        self._understand()
        await self._next(client)

    def close(self) -> None:
        """Nobody waits any more."""
        if self._looking is not None:
            self._looking.cancel()

    def _understand(self) -> None:
        result = run_command(self._text, CommandContext(facts=self._facts))
        if result.is_error:
            self.error = " ".join(result.lines)
        elif not answers_without_a_screen(result, goes_on=self._goes_on):
            self.error = NEEDS_TERMINAL
        else:
            self.lines += result.lines
            self._ops = [replace(op, op_id=OpId(f"p{at}")) for at, op in enumerate(result.ops)]
            self._lookups = list(result.lookups)

    async def _next(self, client: Client) -> None:
        if not self.error and self._ops:
            self._asked = self._ops.pop(0)
            await client.submit(self._asked)
        elif not self.error and self._lookups:
            self._looking = asyncio.create_task(self._look_up(self._lookups.pop(0), client))
        else:
            self.finished.set()

    async def _look_up(self, lookup: Lookup[Any], client: Client) -> None:
        """Beside the events: what the answer waits for may be told by one of them."""
        try:
            self._answered(await client.look_up(lookup))
        except LookupRefused as refused:
            self.error = str(refused)
        except Exception as error:  # a bug of ours: whoever waits for a result gets one, then it is told
            self.fault = error
            self.error = f"internal error: {type(error).__name__}: {error}"
        await self._next(client)

    def _answered(self, answer: Event | Answer) -> None:
        if isinstance(answer, CompactionFailed):
            self.error = answer.reason
            return
        if isinstance(answer, ContextShown):
            self.data["context"] = context_data(answer.measured)
        if isinstance(answer, RecapReady | Notice):
            self.lines.append(answer.text)
        else:
            self.lines += answer_lines(answer, self._facts)


async def run_slash_command(client: Client, text: str, options: HeadlessOptions, *, out: TextIO, err: TextIO) -> int:
    """Ask, print what is answered and one result, end the session. Returns the exit code: 2 for what was not
    understood."""
    printer = Printer(out, err)
    running, outcome = CommandRun(text), TurnOutcome()
    failed: Exception | None = None
    with interrupts(client) as stopping:
        try:
            await follow(running, outcome, client, options, printer, stopping)
        except Exception as error:  # a bug of ours: whoever waits for a result gets one, then it is told
            failed = error
            running.error = f"internal error: {type(error).__name__}: {error}"
        failed = failed or running.fault
        stopped = stopping.wanted.is_set() and (not running.over or bool(running.error))
        if stopped:
            running.error = "interrupted"
        if options.output_format != "text":
            await printer.write(command_result(running, outcome))
        elif running.lines:
            printer.text("\n".join(running.lines))
        if running.error and failed is None:
            await printer.flushed()
            printer.error(running.error)
        await told(printer, stopping)
    if failed is not None:
        raise failed
    if printer.output.error is not None:
        raise printer.output.error
    if stopped:
        return INTERRUPTED_CODE
    return (1 if running.lines else 2) if running.error else 0


async def follow(
    running: CommandRun,
    outcome: TurnOutcome,
    client: Client,
    options: HeadlessOptions,
    printer: Printer,
    stopping: StopSignals,
) -> None:
    """Until the command is answered, or a signal ends it."""
    lines = stream_lines(options) if options.output_format == "stream-json" else None

    closing: list[asyncio.Task[None]] = []

    async def leave() -> None:
        await stopping.wanted.wait()
        closing.append(asyncio.create_task(client.submit(Close())))

    leaving = asyncio.create_task(leave())
    try:
        async for envelope in until(running, client):
            for line in lines.lines(envelope) if lines is not None else ():
                await printer.write(line)
            if envelope.agent == MAIN_AGENT:
                outcome.feed(envelope.event)
                await running.take(envelope, client)
    finally:
        leaving.cancel()
        running.close()
        await (closing[0] if closing else client.submit(Close()))


async def until(running: CommandRun, client: Client) -> AsyncIterator[Envelope]:
    """The events until the command is over; when an answer ended it, also those that were told before."""
    events = client.events()
    finished = asyncio.create_task(running.finished.wait())
    coming: asyncio.Future[Envelope | None] | None = None
    try:
        while True:
            coming = asyncio.ensure_future(anext(events, None))
            if not running.over:
                await asyncio.wait({coming, finished}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                await asyncio.wait({coming}, timeout=0)
            envelope = coming.result() if coming.done() else None
            if envelope is None:
                return
            asked = running.asking
            yield envelope
            if running.over and asked:
                return
    finally:
        finished.cancel()
        if coming is not None:
            coming.cancel()


def command_result(running: CommandRun, outcome: TurnOutcome) -> ResultLine:
    """The result of a command: what it said, and what it cost if it asked a model."""
    return told_result(
        outcome, "\n".join(running.lines), error=running.error, context=running.data.get("context", UNSET)
    )
