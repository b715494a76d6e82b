"""One prompt, one result: the front end without a screen. stdout carries only the asked format."""

import asyncio
import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

from msgspec import Struct

from clew.headless.printer import Printer
from clew.protocol.client import Client
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    OpRejected,
    QuestionAsked,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.ops import AnswerApproval, AnswerQuestion, Close, ContinueTurn, Interrupt, SubmitPrompt
from clew.streaming.lines import StreamLines
from clew.streaming.outcome import ALL_REFUSED, Outcome, failed_result

OutputFormat = Literal["text", "json", "stream-json"]
NAMED_DENIALS = 3
SUBJECT_CHARS = 60
NOBODY = "Allow it by a rule or a permission mode."


class HeadlessOptions(Struct, frozen=True, kw_only=True):
    """How to run and print."""

    output_format: OutputFormat = "text"
    partial: bool = False
    verbose: bool = False


async def run_headless(client: Client, prompt: str, options: HeadlessOptions, *, out: TextIO, err: TextIO) -> int:
    """Send the prompt, or go on with a turn that was cut off, and print exactly one result. Returns the exit code."""
    outcome = Outcome()
    stream = StreamLines(partial=options.partial) if options.output_format == "stream-json" else None
    printer = Printer(out, err)
    refused = ""
    with interrupts(client):
        try:
            async for envelope in client.events():
                event = envelope.event
                await answer_for_nobody(client, event)
                if envelope.agent != MAIN_AGENT:
                    continue
                outcome.feed(event)
                if stream is not None:
                    for line in stream.lines(envelope):
                        printer.document(line)
                printer.diagnose(event, verbose=options.verbose)
                if isinstance(event, SessionStarted):
                    await client.submit(SubmitPrompt(content=prompt) if prompt else ContinueTurn())
                if isinstance(event, OpRejected):
                    refused = event.reason
                if isinstance(event, TurnEnded | OpRejected | SessionEnded):
                    break
        finally:  # also when nobody reads what we print any more: the log tells how it ended
            await client.submit(Close())
    if refused:
        print_unstarted(options.output_format, refused, out=out)
        printer.error(refused)
        return 2
    finish(outcome, options.output_format, printer)
    return outcome.exit_code


async def answer_for_nobody(client: Client, event: Event) -> None:
    """What would ask is denied, listed in the result, and the run goes on."""
    match event:
        case ApprovalRequested():
            await client.submit(
                AnswerApproval(request_id=event.request_id, decision="deny", reason=NOBODY, by="nobody")
            )
        case QuestionAsked():
            await client.submit(AnswerQuestion(request_id=event.request_id, answers=(), declined=True, by="nobody"))
        case _:
            pass


def finish(outcome: Outcome, output_format: OutputFormat, printer: Printer) -> None:
    """The one result."""
    if output_format != "text":
        printer.document(outcome.result())
    elif outcome.answer:
        printer.text(outcome.answer)
    unasked = [denial for denial in outcome.denials if denial.by == "nobody"]
    if output_format == "text" and unasked:
        printer.error(denied(unasked))
    if outcome.error and not (unasked and output_format == "text" and outcome.reason == ALL_REFUSED):
        printer.error(outcome.error)


def print_unstarted(output_format: OutputFormat, error: str, *, out: TextIO) -> None:
    """The one result of a run that could not begin: programs that read JSON wait for one."""
    if output_format != "text":
        Printer(out, out).document(failed_result(error))


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


@contextmanager
def interrupts(client: Client) -> Generator[None]:
    """Ctrl-C once interrupts the turn cleanly; a second one quits at once. So do SIGTERM and a terminal that closes."""
    loop = asyncio.get_running_loop()
    pending: set[asyncio.Task[None]] = set()
    seen = 0

    def interrupt() -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            os._exit(130)
        pending.add(loop.create_task(client.submit(Interrupt())))

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it is meant to go on
        signals.append(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
