"""What a headless run prints: documents and the answer on stdout, everything else as lines on stderr."""

from typing import Any, TextIO

import msgspec

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
from clew.system.terminal_text import sanitize


class Printer:
    """Untrusted text is made harmless when the stream is a terminal; a pipe gets the exact text."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._safe_out = out.isatty()

    def document(self, document: dict[str, Any]) -> None:
        """One line of JSON, at once."""
        self.text(msgspec.json.encode(document).decode())

    def text(self, text: str) -> None:
        """Words for stdout, ended by a newline."""
        self._out.write(sanitize(text) if self._safe_out else text)
        if not text.endswith("\n"):
            self._out.write("\n")
        self._out.flush()

    def error(self, text: str) -> None:
        """One line for a person."""
        self._err.write(f"clew: {sanitize(text, one_line=True)}\n")
        self._err.flush()

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
            case Notice() if verbose:
                self.error(event.text)
            case ModelChanged() if verbose:
                self.error(f"model is now {event.model}")
            case ToolStarted() if verbose:
                self.error(f"{event.call.name} {msgspec.json.encode(event.call.arguments).decode()[:200]}")
            case ToolEnded() if verbose:
                outcome = "failed" if event.result.is_error else "done"
                self.error(f"{event.name} {outcome}: {result_text(event.result)[:200]}")
            case _:
                pass
