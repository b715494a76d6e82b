"""A slash command without a screen: `clew -p "/context"`. What it asks is answered by events, and then it ends."""

import asyncio
from collections.abc import Mapping
from typing import Any, TextIO

import msgspec
from msgspec import UNSET

from clew.commands.answers import answer_lines
from clew.commands.base import CommandContext, SessionFacts
from clew.commands.context_view import context_data
from clew.commands.facts import facts_after
from clew.commands.registry import run_command
from clew.headless.printer import Printer
from clew.headless.run import HeadlessOptions, stream_lines, told
from clew.headless.stopping import INTERRUPTED_CODE, Stopping, interrupts
from clew.protocol.client import Client
from clew.protocol.events import (
    ChecksShown,
    CompactionEnded,
    CompactionFailed,
    CompactionUndone,
    ContextMeasured,
    DiffShown,
    EffortChanged,
    Envelope,
    Event,
    EventBase,
    HooksListed,
    ItemPinned,
    ItemsRecalled,
    LineRemembered,
    McpServersListed,
    MemoryListed,
    ModelsListed,
    Notice,
    OpRejected,
    PlanOpened,
    PlanShown,
    RangeSnipped,
    RecapReady,
    ReceiptShown,
    RewindPreviewed,
    Rewound,
    RulesListed,
    SessionExported,
    SessionPreviewed,
    SessionsListed,
    SnapshotTaken,
    StatusShown,
    ThemeChanged,
    TitleChanged,
    ViewTrimmed,
)
from clew.protocol.ids import MAIN_AGENT, OpId
from clew.protocol.invocables import InvocablesListed
from clew.protocol.ops import (
    AllowRule,
    ClearContext,
    Close,
    Compact,
    ExportSession,
    ForgetLine,
    ListHooks,
    ListInvocables,
    ListMcp,
    ListMemory,
    ListModels,
    ListRules,
    ListSessions,
    LogInMcp,
    LogOutMcp,
    Op,
    OpenPlan,
    Pin,
    PreviewSession,
    Recall,
    ReconnectMcp,
    Redo,
    Remember,
    RemoveRule,
    RequestContext,
    RequestRecap,
    RequestReceipt,
    RequestStatus,
    Rewind,
    RunChecks,
    SetEffort,
    SetTheme,
    SetTitle,
    ShowDiff,
    ShowPlan,
    Snip,
    ToggleMcp,
    Undo,
    UndoCompact,
)
from clew.protocol.stream import ResultLine
from clew.streaming.outcome import Outcome
from clew.streaming.results import told_result

ENDS: dict[type[Op], tuple[type[EventBase], ...]] = {
    RequestContext: (ContextMeasured,),
    RequestReceipt: (ReceiptShown,),
    Compact: (CompactionEnded, CompactionFailed, ViewTrimmed),
    ClearContext: (CompactionEnded, CompactionFailed),
    Snip: (RangeSnipped,),
    UndoCompact: (CompactionUndone,),
    Pin: (ItemPinned,),
    Recall: (ItemsRecalled,),
    ListModels: (ModelsListed,),
    ListRules: (RulesListed,),
    ListHooks: (HooksListed,),
    ListMcp: (McpServersListed,),
    ReconnectMcp: (McpServersListed,),
    ToggleMcp: (McpServersListed,),
    LogInMcp: (Notice,),
    LogOutMcp: (Notice,),
    ListInvocables: (InvocablesListed,),
    RemoveRule: (RulesListed,),
    ListSessions: (SessionsListed,),
    RequestRecap: (RecapReady, Notice),
    SetTitle: (TitleChanged,),
    AllowRule: (RulesListed,),
    ShowDiff: (DiffShown,),
    ShowPlan: (PlanShown,),
    OpenPlan: (PlanOpened,),
    ListMemory: (MemoryListed,),
    ForgetLine: (LineRemembered,),
    Remember: (LineRemembered,),
    ExportSession: (SessionExported,),
    RequestStatus: (StatusShown,),
    RunChecks: (ChecksShown,),
    SetTheme: (ThemeChanged,),
    SetEffort: (EffortChanged,),
    PreviewSession: (SessionPreviewed,),
    Undo: (Rewound, RewindPreviewed),
    Redo: (Rewound, RewindPreviewed),
    Rewind: (Rewound, RewindPreviewed),
}
"""Which event answers an op. What is not here needs a session that goes on: a terminal."""
NEEDS_TERMINAL = "this command needs a session that goes on; start `clew` and type it there"


class CommandRun:
    """One command: its ops in order, each until its answer is there."""

    def __init__(self, text: str, ends: Mapping[type[Op], tuple[type[EventBase], ...]] = ENDS) -> None:
        """`ends`: which event answers an op."""
        self._text = text
        self._ends = ends
        self._facts = SessionFacts()
        self._ops: list[Op] = []
        self._asked: Op | None = None
        self._started = False
        self.lines: list[str] = []
        self.data: dict[str, Any] = {}
        self.error = ""
        self.over = False

    async def take(self, envelope: Envelope, client: Client) -> None:
        """Follow the session, and ask what is next."""
        event = envelope.event
        self._facts = facts_after(envelope, self._facts)
        match event:
            case SnapshotTaken() if not self._started:
                await self.begin(self._facts, client)
            case OpRejected() if self._asked is not None and event.op_id == self._asked.op_id:
                self.error, self.over = event.reason, True
            case _ if self._asked is not None and isinstance(event, self._ends[type(self._asked)]):
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

    def _understand(self) -> None:
        result = run_command(self._text, CommandContext(facts=self._facts))
        if result.is_error:
            self.error = " ".join(result.lines)
        elif result.leave or any(type(op) not in self._ends for op in result.ops):
            self.error = NEEDS_TERMINAL
        else:
            self.lines += result.lines
            self._ops = [msgspec.structs.replace(op, op_id=OpId(f"p{at}")) for at, op in enumerate(result.ops)]
        self.over = bool(self.error)

    async def _next(self, client: Client) -> None:
        if self.over or not self._ops:
            self.over = True
            return
        self._asked = self._ops.pop(0)
        await client.submit(self._asked)

    def _answered(self, event: Event) -> None:
        if isinstance(event, CompactionFailed):
            self.error = event.reason
            return
        if isinstance(event, ContextMeasured):
            self.data["context"] = context_data(event)
        if isinstance(event, RecapReady | Notice):
            self.lines.append(event.text)
        else:
            self.lines += answer_lines(event, self._facts)


async def run_slash_command(client: Client, text: str, options: HeadlessOptions, *, out: TextIO, err: TextIO) -> int:
    """Ask, print what is answered and one result, end the session. Returns the exit code: 2 for what was not
    understood."""
    printer = Printer(out, err)
    running, outcome = CommandRun(text), Outcome()
    failed: Exception | None = None
    with interrupts(client) as stopping:
        try:
            await follow(running, outcome, client, options, printer, stopping)
        except Exception as error:  # a bug of ours: whoever waits for a result gets one, then it is told
            failed = error
            running.error = f"internal error: {type(error).__name__}: {error}"
        stopped = stopping.wanted.is_set() and (not running.over or bool(running.error))
        if stopped:
            running.error = running.error or "interrupted"
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
    outcome: Outcome,
    client: Client,
    options: HeadlessOptions,
    printer: Printer,
    stopping: Stopping,
) -> None:
    """Until the command is answered, or a signal ends it."""
    lines = stream_lines(options) if options.output_format == "stream-json" else None

    closing: list[asyncio.Task[None]] = []

    async def leave() -> None:
        await stopping.wanted.wait()
        closing.append(asyncio.create_task(client.submit(Close())))

    leaving = asyncio.create_task(leave())
    try:
        async for envelope in client.events():
            for line in lines.lines(envelope) if lines is not None else ():
                await printer.write(line)
            if envelope.agent != MAIN_AGENT:
                continue
            outcome.feed(envelope.event)
            await running.take(envelope, client)
            if running.over:
                break
    finally:
        leaving.cancel()
        await (closing[0] if closing else client.submit(Close()))


def command_result(running: CommandRun, outcome: Outcome) -> ResultLine:
    """The result of a command: what it said, and what it cost if it asked a model."""
    return told_result(
        outcome, "\n".join(running.lines), error=running.error, context=running.data.get("context", UNSET)
    )
