"""One prompt, one result: the front end without a screen. stdout carries only the asked format."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from msgspec import Struct
from msgspec.structs import replace

from clew.headless.printer import Printer
from clew.headless.stop_signals import StopSignals, interrupts
from clew.protocol.client import Client
from clew.protocol.events import (
    AgentEnded,
    AgentStarted,
    ApprovalRequested,
    ApprovalResolved,
    Ask,
    Event,
    OpRejected,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, OpId
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.ops import (
    Close,
    ContinueTurn,
    Interrupt,
    Op,
    SubmitPrompt,
    UseInvocable,
    declined,
    to_agent,
)
from clew.protocol.outcome import ALL_REFUSED, UNSAVED, TurnOutcome

if TYPE_CHECKING:
    from clew.headless.slash_name import SlashName
    from clew.streaming.lines import StreamLines

OutputFormat = Literal["text", "json", "stream-json"]
NAMED_DENIALS = 3
SUBJECT_CHARS = 60
NOBODY = "Allow it by a rule or a permission mode."
ASKED = OpId("prompt")
READER_S = 2.0
"""How long a reader that does not read may keep a run that was told to end: those who tell it kill it after five."""


class HeadlessOptions(Struct, frozen=True, kw_only=True):
    """How to run and print."""

    output_format: OutputFormat = "text"
    partial: bool = False
    verbose: bool = False
    hooks: bool = False
    """Lines of stream-json tell what hooks said."""
    session_state: bool = False
    """Lines of stream-json tell whether work is under way."""
    replay_prompts: bool = False
    tool_answers: bool = False
    """A tool of the user's answers what would ask a person."""
    slash_commands: tuple[str, ...] = ()


async def run_headless(
    client: Client,
    prompt: str,
    options: HeadlessOptions,
    *,
    name: "SlashName | None" = None,
    out: TextIO,
    err: TextIO,
) -> int:
    """Send the prompt, or go on with a turn that was cut off, and print exactly one result, whatever happens. `name`:
    the prompt is this slash name, and is never sent as words. Returns the exit code; raises what kept stdout from being
    written."""
    printer = printer_of(options, out, err)
    with interrupts(client) as stopping:
        run = OneShot(client, prompt, options, printer, stopping, name)
        failed: Exception | None = None
        try:
            await run.follow()
        except Exception as error:  # a bug of ours: whoever waits for a result gets one, then it is told
            failed = error
            run.outcome.failure = f"internal error: {type(error).__name__}: {error}"
        try:
            if run.told and failed is None:
                await tell(run.outcome, run.told, options.output_format, printer)
            else:
                await report(run.outcome, options.output_format, printer, for_people=failed is None)
        finally:
            await told(printer, stopping)
    if failed is not None:
        raise failed
    if printer.output.error is not None:
        raise printer.output.error
    if run.told:
        return 0
    return 2 if run.refused else run.outcome.exit_code


class OneShot:
    """The run: events in, lines out."""

    def __init__(
        self,
        client: Client,
        prompt: str,
        options: HeadlessOptions,
        printer: Printer,
        stopping: StopSignals,
        name: "SlashName | None" = None,
    ) -> None:
        self._client = client
        self._prompt = prompt
        self._name = name
        self._options = options
        self._printer = printer
        self._stopping = stopping
        self._closing: asyncio.Task[None] | None = None
        self._finding: asyncio.Task[None] | None = None
        self.outcome = TurnOutcome()
        self.refused = False
        """The session did not take the prompt."""
        self.told = ""
        """Help for a slash name, which was asked for in place of a turn."""
        self._lines = stream_lines(options) if options.output_format == "stream-json" else None
        self._beside = ChildrenBeside()
        self._leaving: asyncio.Task[None] | None = None

    async def follow(self) -> None:
        """Until the session is over: what is said after the turn, such as its title, comes before the result."""
        leaving = asyncio.create_task(self._close_without_reader())
        try:
            async for envelope in self._client.events():
                event = envelope.event
                if not (self._options.tool_answers and isinstance(event, ApprovalRequested)):
                    await answer_for_nobody(self._client, event, envelope.agent)
                for line in self._lines.lines(envelope) if self._lines is not None else ():
                    await self._printer.write(line)
                if envelope.agent == MAIN_AGENT:
                    await self._take(event)
                else:
                    self.outcome.feed_child(event, envelope.agent)
        finally:  # whatever happened: the log tells how it ended
            leaving.cancel()
            if self._leaving is not None:
                self._leaving.cancel()
            if self._finding is not None:
                self._finding.cancel()
            await self._close()

    async def _take(self, event: Event) -> None:
        self.outcome.feed(event)
        self._printer.diagnose(event, verbose=self._options.verbose)
        match event:
            case SessionStarted():
                await self._ask(event)
            case OpRejected(op_id=op_id) if op_id == ASKED:
                self._refuse(event.reason)
            case _:
                self._beside.feed(event)
                if self._beside.over:
                    self._close()
                elif self._beside.waits and self._leaving is None:
                    self._leaving = asyncio.create_task(self._close_when_told())

    async def _ask(self, started: SessionStarted) -> None:
        if self._name is not None:
            known = self._name.known(started.invocables)
            if known is not None:
                await self._use(known)
            else:  # beside the events: servers that may bring it are waited for
                self._finding = asyncio.create_task(self._find(self._name))
            return
        await self._begin(
            SubmitPrompt(content=self._prompt, op_id=ASKED) if self._prompt else ContinueTurn(op_id=ASKED)
        )

    async def _find(self, name: "SlashName") -> None:
        """Who may still bring the name is waited for."""
        try:
            listed = await self._client.look_up(name.question())
        except LookupRefused as refused:
            self._refuse(str(refused))
            return
        known = name.known(listed.invocables)
        if known is None:
            self._refuse(name.refusal(listed))
        else:
            await self._use(known)

    async def _use(self, known: UseInvocable | str) -> None:
        if isinstance(known, str):
            self.told = known
            self._close()
        else:
            await self._begin(replace(known, op_id=ASKED))

    async def _begin(self, op: Op) -> None:
        await self._client.submit(op)
        if self._stopping.wanted.is_set():  # a signal that came when there was nothing to interrupt yet
            await self._client.submit(Interrupt())

    def _refuse(self, reason: str) -> None:
        self.refused = True
        self.outcome.failure = reason
        self._close()

    async def _close_without_reader(self) -> None:
        await self._printer.output.closed.wait()
        self._close()

    async def _close_when_told(self) -> None:
        """A signal while only children are at work: there is no turn that it could interrupt."""
        await self._stopping.wanted.wait()
        if self._beside.waits:
            self._close()

    def _close(self) -> "asyncio.Task[None]":
        """Everything is stopped and written; once."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._client.submit(Close()))
        return self._closing


class ChildrenBeside:
    """Whether a run is over: its turn is, and all children have settled and were told of; a turn that ended at a limit
    or failed waits for nobody."""

    def __init__(self) -> None:
        self._open: set[AgentId] = set()
        self._owed: list[AgentId] = []
        self._queued: set[str] = set()
        """Prompts that have not joined yet."""
        self._turns = 0
        self._in_turn = True
        self._failed = False

    def feed(self, event: Event) -> None:
        """Take one more event of the main agent."""
        match event:
            case TurnStarted():
                self._in_turn = True
            case TurnEnded():
                self._in_turn, self._turns = False, self._turns + 1
                self._failed = event.reason != "completed"
            case AgentStarted():
                self._open.add(event.child)
            case AgentEnded():
                self._open.discard(event.child)
                self._owed += [event.child] if event.background else []
            case PromptQueued() if event.origin == "user":
                self._queued.add(event.prompt_id)
            case PromptWithdrawn():
                self._queued.discard(event.prompt_id)
            case PromptAccepted():
                self._owed = [child for child in self._owed if child not in event.notices]
                self._queued.discard(event.prompt_id)
            case _:
                pass

    @property
    def waits(self) -> bool:
        """The turn is over, and children are not."""
        return self._turns > 0 and not self._in_turn and not self.over

    @property
    def over(self) -> bool:
        """Nothing is left to wait for."""
        left = self._open or self._owed or self._queued
        return self._turns > 0 and not self._in_turn and (self._failed or not left)


def printer_of(options: HeadlessOptions, out: TextIO, err: TextIO) -> Printer:
    """What prints; a reader of a stream is watched, and gets pieces that waited for it as one."""
    if options.output_format != "stream-json":
        return Printer(out, err)
    return json_output().stream_printer(out, err)


def json_output():
    """What makes lines for programs: a run that prints words loads none of it."""
    from clew.headless import json_output

    return json_output


def stream_lines(options: HeadlessOptions) -> "StreamLines":
    """The lines that were asked for."""
    return json_output().StreamLines(
        partial=options.partial,
        hooks=options.hooks,
        session_state=options.session_state,
        replay_prompts=options.replay_prompts,
        nobody_is_asked=True,
        slash_commands=options.slash_commands,
    )


async def answer_for_nobody(client: Client, event: Event, agent: AgentId = MAIN_AGENT) -> None:
    """What would ask is denied, listed in the result, and the run goes on."""
    if isinstance(event, Ask):
        await client.submit(to_agent(declined(event, reason=NOBODY, by="nobody"), agent))


async def report(outcome: TurnOutcome, output_format: OutputFormat, printer: Printer, *, for_people: bool) -> None:
    """The one result, and for a person what it does not say."""
    if output_format != "text":
        await printer.write(json_output().result_of(outcome))
    elif outcome.answer:
        printer.text(outcome.answer)
    if not for_people:
        return
    await printer.flushed()
    unasked = [denial for denial in outcome.denials if denial.by == "nobody"]
    if output_format == "text" and unasked:
        printer.error(denied(unasked))
    if outcome.reason == UNSAVED:
        return  # whoever writes the log has told it, with the reason
    if outcome.error and not (unasked and output_format == "text" and outcome.reason == ALL_REFUSED):
        printer.error(outcome.error)


async def tell(outcome: TurnOutcome, text: str, output_format: OutputFormat, printer: Printer) -> None:
    """Words of ours as the one result."""
    if output_format == "text":
        printer.text(text)
    else:
        await printer.write(json_output().told_result(outcome, text))


async def told(printer: Printer, stopping: StopSignals) -> None:
    """Everything printed has left. A reader that does not read is waited for, but not when the run was told to end."""
    leaving = asyncio.create_task(printer.finish())
    wanted = asyncio.create_task(stopping.wanted.wait())
    await asyncio.wait({leaving, wanted}, return_when=asyncio.FIRST_COMPLETED)
    if not leaving.done():
        await asyncio.wait({leaving}, timeout=READER_S)
    wanted.cancel()
    leaving.cancel()


def print_unstarted(output_format: OutputFormat, error: str, *, out: TextIO) -> None:
    """The lines of a run that could not begin: programs that read JSON wait for a result."""
    if output_format != "text":
        json_output().print_failed(error, stream=output_format == "stream-json", out=out)
    out.flush()


def denied(denials: Sequence[ApprovalResolved]) -> str:
    """What the answer alone would hide: things were left undone because nobody could be asked."""
    count = f"{len(denials)} calls were" if len(denials) > 1 else "1 call was"
    named = "; ".join(name_of(denial) for denial in denials[:NAMED_DENIALS])
    more = ", ..." if len(denials) > NAMED_DENIALS else ""
    return f"{count} not allowed: {named}{more} (see --allowed-tools and --permission-mode)"


def name_of(denial: ApprovalResolved) -> str:
    """`Write a.txt`, where the subject says `write a.txt`."""
    subject = denial.subject[:SUBJECT_CHARS]
    return subject if subject.lower().startswith(denial.tool.lower()) else f"{denial.tool} {subject}".strip()
