"""A scripted Client and a played terminal, for tests of the plain front end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from clew.plain.line.terminal import OnBytes, OutputGone
from clew.plain.options import PlainOptions
from clew.plain.session import PlainSession
from clew.protocol.events import (
    ApprovalRequested,
    Envelope,
    Event,
    PartCompleted,
    RuleOffer,
    SessionEnded,
    SessionStarted,
    TextDelta,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, RequestId, SessionId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.protocol.ops import Close, Op, ReportTyping
from fakes.effort import HANG_S
from fakes.played_lookups import PlayedLookups

STARTED = SessionStarted(
    session_id=SessionId("s-1"),
    cwd="/project",
    model="local/scripted",
    permission_mode="default",
    tools=("Bash", "Read"),
    version="0.1",
)


def sent(event: Event, *, agent: AgentId = MAIN_AGENT) -> Envelope:
    """An event as a client gets it."""
    return Envelope(seq=1, at="2026-11-16T08:00:00.000Z", session_id=SessionId("s-1"), event=event, agent=agent)


class ScriptedClient(PlayedLookups):
    """Events are pushed by the test; ops are recorded. Close is answered by SessionEnded, as the host does."""

    def __init__(self, react: Callable[["ScriptedClient", Any], None] | None = None) -> None:
        super().__init__()
        self.ops: list[Op | Lookup[Any]] = []
        """Lookups too, in the order in which they were asked."""
        self._queue: asyncio.Queue[Envelope] = asyncio.Queue()
        self._react = react
        self.typed = 0
        self.push(STARTED)

    def looked_up(self, lookup: Lookup[Any]) -> None:
        self.ops.append(lookup)
        if self._react is not None:
            self._react(self, lookup)

    def push(self, *events: Event | Answer, agent: AgentId = MAIN_AGENT) -> None:
        for event in events:
            if isinstance(event, Answer):
                self.answer(event)
                continue
            self._queue.put_nowait(sent(event, agent=agent))

    async def submit(self, op: Op) -> None:
        if isinstance(op, ReportTyping):
            self.typed += 1  # keys, whatever they say: what they say is in the other ops
            return
        self.ops.append(op)
        if isinstance(op, Close):
            self.push(SessionEnded())
        elif self._react is not None:
            self._react(self, op)

    async def events(self) -> AsyncIterator[Envelope]:
        while True:
            envelope = await self._queue.get()
            yield envelope
            if isinstance(envelope.event, SessionEnded):
                return


class PlayedTerminal:
    """Keeps what was written; bytes come from the test."""

    def __init__(
        self, *, interactive: bool = True, editing: bool = False, colour: bool = False, columns: int = 100
    ) -> None:
        self.interactive = interactive
        self.editing = editing
        self.colour = colour
        self.output = ""
        self.modes: list[bool] = []
        self.discarded = 0
        self.ended = False
        self.paused = False
        self.broken = False
        self._columns = columns
        self._on_bytes: OnBytes | None = None

    def columns(self) -> int:
        return self._columns

    def write(self, text: str) -> None:
        if self.broken:
            raise OutputGone
        self.output += text

    def begin(self, on_bytes: OnBytes) -> None:
        self._on_bytes = on_bytes

    def end(self) -> None:
        self.ended = True

    def keys(self, *, raw: bool) -> None:
        self.modes.append(raw)

    def discard_input(self) -> None:
        self.discarded += 1

    def hold(self, *, paused: bool) -> None:
        self.paused = paused

    def type(self, text: str | bytes) -> None:
        assert self._on_bytes is not None
        self._on_bytes(text.encode() if isinstance(text, str) else text)


class Stage:
    """A running front end: type, push events, wait for what must show or be asked."""

    def __init__(
        self,
        *,
        client: ScriptedClient | None = None,
        terminal: PlayedTerminal | None = None,
        home: Path | None = None,
        **options: Any,
    ) -> None:
        self.client = client or ScriptedClient()
        self.terminal = terminal or PlayedTerminal()
        settings = {"guard_s": 0.02, "quit_window_s": HANG_S, "close_timeout_s": HANG_S, **options}
        self.session = PlainSession(self.client, self.terminal, PlainOptions(home=home, **settings))
        self._task: asyncio.Task[int] | None = None

    async def __aenter__(self) -> "Stage":
        self._task = asyncio.create_task(self.session.run())
        await self.until(lambda: "clew 0.1" in self.output)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._task is not None
        if not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def output(self) -> str:
        return self.terminal.output

    @property
    def ops(self) -> list[Op | Lookup[Any]]:
        return self.client.ops

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a condition; the failure shows the screen."""
        deadline = asyncio.get_running_loop().time() + HANG_S
        while not holds():
            if self._task is not None and self._task.done() and self._task.exception() is not None:
                self._task.result()
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"did not happen; screen:\n{self.output}\nops: {self.ops}")
            await asyncio.sleep(0.002)

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.output)

    async def settled(self) -> None:
        """Everything posted so far was handled."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def code(self) -> int:
        assert self._task is not None
        return await asyncio.wait_for(self._task, HANG_S)


def call(number: int = 1, name: str = "Bash", **arguments: Any) -> PartCompleted:
    part = ToolCallPart(id=CallId(f"c{number}"), name=name, arguments=arguments)
    return PartCompleted(
        entry_id=EntryId(f"e{number}"),
        parent_id=None,
        reply_id=MessageId("m1"),
        part_number=number,
        model="m",
        part=part,
    )


def ended(number: int = 1, name: str = "Bash", *display: Any, text: str = "ok", is_error: bool = False) -> ToolEnded:
    return ToolEnded(
        entry_id=EntryId(f"r{number}"),
        parent_id=EntryId(f"e{number}"),
        name=name,
        result=ToolResultPart(call_id=CallId(f"c{number}"), content=text, is_error=is_error),
        display=display,
    )


def asks(number: int = 1, subject: str = "git push", **more: Any) -> ApprovalRequested:
    offers = (RuleOffer(rule="Bash(git push *)", covers="git push"),)
    return ApprovalRequested(
        request_id=RequestId(f"q{number}"),
        call_id=CallId(f"c{number}"),
        subject=subject,
        **{"tool": "Bash", "why": "no rule allows git push", "offers": offers, **more},
    )


def words(text: str, part: int = 0) -> TextDelta:
    return TextDelta(reply_id=MessageId("m1"), part=part, text=text)


def said(text: str, part: int = 0) -> PartCompleted:
    return PartCompleted(
        entry_id=EntryId(f"t{part}"),
        parent_id=None,
        reply_id=MessageId("m1"),
        part_number=part,
        model="m",
        part=TextPart(text=text),
    )


def says(*chunks: str, part: int = 0) -> tuple[Event, ...]:
    return (*(words(chunk, part) for chunk in chunks), said("".join(chunks), part))


def turn(number: int, *events: Event, reason: Any = "completed", **more: Any) -> tuple[Event, ...]:
    last = TurnEnded(turn=number, reason=reason, steps=1, duration_ms=1200, **more)
    return (TurnStarted(turn=number), *events, last)
