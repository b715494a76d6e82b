"""What a headless run prints: documents and the answer on stdout, everything else as lines on stderr.

Lines leave in order, from a thread of their own. A reader that stops reading holds up only what is written to it: the
event loop goes on, signals are heard, nothing is lost. What waits then is kept, and growing words of one block are
joined, so that it stays in proportion to what was said. A reader that is gone is noticed at once, also while nothing is
written, if that is wanted.
"""

import asyncio
import json
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from io import UnsupportedOperation
from typing import TYPE_CHECKING, TextIO

import msgspec

from clew.protocol.events import (
    AttemptEnded,
    Event,
    HookRan,
    ModelChanged,
    Notice,
    ReplyAwaited,
    RetryScheduled,
    SessionEnded,
    ToolEnded,
    ToolStarted,
)
from clew.protocol.messages import result_text
from clew.text.terminal_text import sanitize

if TYPE_CHECKING:
    from clew.streaming.shapes.control import ControlLine
    from clew.streaming.shapes.stream import StreamLine

    OutputLine = StreamLine | ControlLine
    """What stdout carries. Only our own structs become lines: no text of a model, a tool or a child ever is one."""
    Join = Callable[[OutputLine | str, OutputLine | str], OutputLine | None]
    """Two lines as one; None when they do not belong together."""


GATHER_S = 0.002
"""Lines that come this close leave together: changing between threads costs more than writing them."""
MAX_WAITING_WORDS = 10_000
"""Of a stream for people: more lines than anybody will read are dropped while nobody does."""


class OutputWriter:
    """Takes lines and texts from the event loop; `closed` is set when nobody reads any more, and from then on what is
    given is dropped."""

    def __init__(
        self, stream: TextIO, *, watched: bool = False, for_people: bool = False, join: "Join | None" = None
    ) -> None:
        """`watched`: a reader that leaves is noticed while nothing is written. `for_people`: words that may be lost
        when nobody reads them. `join`: what makes one line of two while they wait."""
        self._stream = stream
        self._descriptor = _descriptor_of(stream)
        self._watched = watched and self._descriptor is not None
        self._for_people = for_people
        self._join = join
        self._items: deque[OutputLine | str] = deque()
        self._lock = threading.Lock()
        self._ended = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = self._wake = -1
        self._written = asyncio.Event()
        self.closed = asyncio.Event()
        self.error: OSError | None = None
        """Why it is closed."""

    @property
    def waiting(self) -> int:
        """Lines and texts that are not on their way yet."""
        return len(self._items)

    async def write(self, line: "OutputLine") -> None:
        """One line of JSON."""
        self.put(line)

    def put(self, item: "OutputLine | str") -> None:
        """A line, or words as they are. Never waits."""
        if self.error is not None:
            return
        if self._thread is None:
            self._start()
        with self._lock:
            if self._for_people and len(self._items) >= MAX_WAITING_WORDS:
                return
            joined = self._join(self._items[-1], item) if self._items and self._join is not None else None
            if joined is not None:
                self._items[-1] = joined
                return
            self._items.append(item)
            if len(self._items) > 1:
                return  # it is being woken already, or has not come back from writing
        self._rouse()

    async def finish(self) -> None:
        """Returns when everything is written, or nobody reads any more."""
        if self._thread is None:
            return
        with self._lock:
            self._ended = True
        self._rouse()
        await self._written.wait()

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True, name="output")
        self._thread.start()

    def _rouse(self) -> None:
        with suppress(OSError):  # it has ended and closed its side
            os.write(self._wake, b"x")

    def _run(self) -> None:
        try:
            while self._rest():
                if not self._ended:
                    time.sleep(GATHER_S)
                while items := self._take():
                    self._send(b"".join(map(encoded, items)))
        except OSError as error:
            self.error = error
            self._tell(self.closed)
        finally:
            self._tell(self._written)

    def _take(self) -> "list[OutputLine | str]":
        with self._lock:
            items = list(self._items)
            self._items.clear()
        return items

    def _rest(self) -> bool:
        """Wait for more; False when nothing comes any more."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        if self._watched and self._descriptor is not None:
            poll.register(self._descriptor, 0)
        with self._lock:
            if self._ended and not self._items:
                return False
        for descriptor, _ in poll.poll():
            if descriptor == self._descriptor:
                raise BrokenPipeError
            os.read(self._woken, 4_096)
        return True

    def _send(self, data: bytes) -> None:
        if self._descriptor is None:
            self._stream.write(data.decode())
            return
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:  # whoever started us reads and writes without waiting
                select.select([], [self._descriptor], [])

    def _tell(self, event: asyncio.Event) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop ended first
            self._loop.call_soon_threadsafe(event.set)


def _descriptor_of(stream: TextIO) -> int | None:
    try:
        stream.flush()
        return stream.fileno()
    except (UnsupportedOperation, ValueError, OSError):
        return None


def encoded(item: "OutputLine | str") -> bytes:
    """What is written for a line or a text."""
    if isinstance(item, str):
        return item.encode("utf-8", "replace")
    try:
        return msgspec.json.encode(item) + b"\n"
    except UnicodeEncodeError:  # a path that is no text, of which JSON can write every character by its number
        return json.dumps(msgspec.to_builtins(item)).encode() + b"\n"


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
            case SessionEnded(left=left) if left:
                self.error(left)
            case ModelChanged() if verbose:
                self.error(f"model is now {event.model}")
            case ToolStarted() if verbose:
                self.error(f"{event.call.name} {msgspec.json.encode(event.call.arguments).decode()[:200]}")
            case ToolEnded() if verbose:
                outcome = "stopped" if event.stopped else "failed" if event.result.is_error else "done"
                self.error(f"{event.name} {outcome}: {result_text(event.result)[:200]}")
            case _:
                pass
