"""What a headless run prints: documents and the answer on stdout, everything else as lines on stderr."""

import asyncio
from typing import TYPE_CHECKING, TextIO

import msgspec

from clew.headless.writer import OutputWriter, encoded
from clew.protocol.events import (
    AttemptEnded,
    Event,
    HookRan,
    ModelChanged,
    Notice,
    ReplyAwaited,
    RetryScheduled,
    ToolEnded,
    ToolStarted,
)
from clew.protocol.messages import result_text
from clew.text.terminal_text import sanitize

if TYPE_CHECKING:
    from clew.headless.writer import Join, OutputLine

LAST_WORDS_S = 1.0
"""How long stderr may take at the end: nobody has to read it."""


class Printer:
    """Untrusted text is made harmless when the stream is a terminal; a pipe gets the exact text. Nothing here waits for
    a reader but `finish`."""

    def __init__(self, out: TextIO, err: TextIO, *, watched: bool = False, join: "Join | None" = None) -> None:
        """`watched`: somebody follows stdout line by line, so that without a reader there is no point in going on."""
        self.output = OutputWriter(out, watched=watched, join=join)
        self._words = OutputWriter(err, for_people=True)
        self._safe_out = out.isatty()

    async def write(self, line: "OutputLine") -> None:
        """One line of JSON."""
        self.put(line)

    def put(self, line: "OutputLine") -> None:
        """The same, where nothing can be awaited."""
        if self._safe_out:
            self.text(encoded(line).decode())
        else:
            self.output.put(line)

    def text(self, text: str) -> None:
        """Words for stdout, ended by a newline."""
        shown = sanitize(text) if self._safe_out else text
        self.output.put(shown if text.endswith("\n") else f"{shown}\n")

    def error(self, text: str) -> None:
        """One line for a person."""
        self._words.put(f"clew: {sanitize(text, one_line=True)}\n")

    async def flushed(self) -> None:
        """Everything for stdout has left, so that what is said next on a terminal stands below it."""
        if self._safe_out:
            await self.output.finish()

    async def finish(self) -> None:
        """Everything that was printed has left, or nobody reads it any more."""
        await self.output.finish()
        await asyncio.wait({asyncio.ensure_future(self._words.finish())}, timeout=LAST_WORDS_S)

    def diagnose(self, event: Event, *, verbose: bool) -> None:
        """Tell what a person watching stderr should know."""
        match event:
            case Notice(level="warning" | "error"):
                self.error(f"{event.level}: {event.text}")
            case RetryScheduled():
                self.error(
                    f"{event.reason}; trying again in {event.delay_s:.1f} s ({event.attempt}/{event.max_attempts})"
                )
            case ReplyAwaited():
                self.error(f"no answer yet after {event.seconds:.0f} s; still waiting")
            case HookRan() if verbose or event.outcome != "ok":
                words = f"{event.outcome}: {event.detail}" if event.detail else event.outcome
                self.error(f"hook at {event.moment} {words} ({event.hook})"[:500])
            case AttemptEnded() if verbose:
                used = event.usage
                tokens = (
                    f"{used.prompt_tokens:,} in, {used.output_tokens:,} out" if used is not None else "usage unknown"
                )
                self.error(f"{event.model} {event.outcome}: {tokens}, {event.api_ms} ms")
            case Notice() if verbose or event.code == "hook":
                self.error(event.text)
            case ModelChanged() if verbose:
                self.error(f"model is now {event.model}")
            case ToolStarted() if verbose:
                self.error(f"{event.call.name} {msgspec.json.encode(event.call.arguments).decode()[:200]}")
            case ToolEnded() if verbose:
                outcome = "stopped" if event.stopped else "failed" if event.result.is_error else "done"
                self.error(f"{event.name} {outcome}: {result_text(event.result)[:200]}")
            case _:
                pass
