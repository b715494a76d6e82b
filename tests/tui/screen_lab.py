"""The whole screen over a client that plays events and keeps ops: for tests of what a person sees and what is asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    ApprovalRequested,
    Envelope,
    Event,
    PartCompleted,
    PromptAccepted,
    SessionEnded,
    SessionStarted,
    SnapshotTaken,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId, EntryId, MessageId, RequestId, SessionId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart
from clew.protocol.ops import Close, Op
from clew.protocol.state import SessionState
from clew.tui.app import ClewApp
from clew.tui.options import ScreenOptions
from fakes.loop_clock import LoopClock
from fakes.played_lookups import PlayedLookups

SESSION = SessionId("11111111-2222-4333-8444-555555555555")
MOST_PAUSES = 200
"""How long a busy machine may take to hear what was told."""
AT = "2026-11-16T08:00:00.000Z"
PATCH = "@@ -1,3 +1,3 @@\n def heaviest(parcels):\n-    best = 0\n+    best = None\n     return best"


class PlayedClient(PlayedLookups):
    """Tells what the test says, and remembers what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[Op | Lookup[Any]] = []
        """Lookups too, in the order in which they were asked."""
        self._told: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._number = 0
        self._waiting = False

    @property
    def heard(self) -> bool:
        """Everything told was taken, and the screen waits for more."""
        return self._told.empty() and self._waiting

    def looked_up(self, lookup: Lookup[Any]) -> None:
        self.ops.append(lookup)

    def tell(self, *events: Event | Answer) -> None:
        for event in events:
            if isinstance(event, Answer):
                self.answer(event)
                continue
            self._number += 1
            self._told.put_nowait(Envelope(seq=self._number, at=AT, session_id=SESSION, event=event))

    def tell_envelope(self, envelope: Envelope) -> None:
        """One of another agent than the main one."""
        self._number += 1
        self._told.put_nowait(envelope)

    async def submit(self, op: Op) -> None:
        self.ops.append(op)
        if isinstance(op, Close):
            self.tell(SessionEnded(reason="closed"))
            self._told.put_nowait(None)

    async def events(self) -> AsyncIterator[Envelope]:
        while True:
            self._waiting = True
            envelope = await self._told.get()
            self._waiting = False
            if envelope is None:
                return
            yield envelope

    def asked(self, kind: type[Any]) -> list[Any]:
        return [op for op in self.ops if isinstance(op, kind)]


class ScreenLab:
    """A screen that is open."""

    def __init__(self, app: ClewApp, client: PlayedClient, pilot: Pilot[int]) -> None:
        self.app = app
        self.client = client
        self.pilot = pilot
        self._entries = 0
        self._clock: LoopClock | None = None

    async def tell(self, *events: Event | Answer) -> None:
        """Events, and the screen that shows them."""
        self.client.tell(*events)
        await self.settle()

    async def settle(self) -> None:
        """Everything told is taken and drawn, what it led to as well."""
        for _ in range(4):
            await self.pilot.pause()
        for _ in range(MOST_PAUSES):
            if self.client.heard or not self.app.is_running:
                break
            await self.pilot.pause()
        self.app.drawing.now()
        await self.pilot.pause()

    async def later(self, seconds: float) -> None:
        """So much later, without anybody waiting."""
        self._clock = self._clock or LoopClock()
        self._clock.forward(seconds)
        await self.settle()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        await self.press(*("space" if char == " " else char for char in text))

    def rows(self) -> list[str]:
        """The screen as text."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    def text(self) -> str:
        return "\n".join(self.rows())

    def entry(self) -> EntryId:
        self._entries += 1
        return EntryId(f"entry-{self._entries}")


def started(**more: Any) -> SessionStarted:
    facts: dict[str, Any] = {
        "session_id": SESSION,
        "cwd": "/work/parcels",
        "branch": "main",
        "model": "anthropic/claude-opus-5-5",
        "permission_mode": "default",
        "tools": (),
        "version": "1",
    }
    return SessionStarted(**{**facts, **more})


def snapshot(**state: Any) -> SnapshotTaken:
    return SnapshotTaken(state=SessionState(**state))


def prompt(text: str, number: int = 1) -> PromptAccepted:
    return PromptAccepted(entry_id=EntryId(f"p{number}"), parent_id=None, content=text)


def words(text: str, *, reply: str = "r1", part: int = 0) -> PartCompleted:
    return PartCompleted(
        entry_id=EntryId(f"{reply}-{part}"),
        parent_id=None,
        reply_id=MessageId(reply),
        part_number=part,
        model="m",
        part=TextPart(text=text),
    )


def delta(text: str, *, reply: str = "r1", part: int = 0) -> TextDelta:
    return TextDelta(reply_id=MessageId(reply), part=part, text=text)


def call(name: str, call_id: str = "c1", reply: str = "r1", part: int = 1, **arguments: Any) -> PartCompleted:
    return PartCompleted(
        entry_id=EntryId(f"{reply}-{part}"),
        parent_id=None,
        reply_id=MessageId(reply),
        part_number=part,
        model="m",
        part=ToolCallPart(id=CallId(call_id), name=name, arguments=arguments),
    )


def runs(event: PartCompleted) -> ToolStarted:
    assert isinstance(event.part, ToolCallPart)
    return ToolStarted(call=event.part)


def edited(call_id: str = "c1") -> ToolEnded:
    return _ended("Edit", call_id, "done", DiffBlock(path="/work/parcels/weights.py", patch=PATCH, added=1, removed=1))


def ran(command: str, output: str, exit_code: int = 0, call_id: str = "c1") -> ToolEnded:
    block = TerminalBlock(command=command, output=output, exit_code=exit_code)
    return _ended("Bash", call_id, output, block, failed=exit_code != 0)


def _ended(name: str, call_id: str, text: str, block: Any, *, failed: bool = False) -> ToolEnded:
    return ToolEnded(
        entry_id=EntryId(f"{call_id}-end"),
        parent_id=EntryId("x"),
        name=name,
        result=ToolResultPart(call_id=CallId(call_id), content=text, is_error=failed),
        display=(block,),
        duration_ms=400,
    )


def asks(tool: str = "Bash", subject: str = "rm -rf build", call_id: str = "c1", number: int = 1) -> ApprovalRequested:
    return ApprovalRequested(
        request_id=RequestId(f"ask-{number}"),
        call_id=CallId(call_id),
        tool=tool,
        subject=subject,
        why="no rule allows it",
    )


def turn(number: int = 1) -> TurnStarted:
    return TurnStarted(turn=number)


def over(number: int = 1, **more: Any) -> TurnEnded:
    facts: dict[str, Any] = {"turn": number, "reason": "completed", "steps": 1, "duration_ms": 7_000}
    return TurnEnded(**{**facts, **more})


@asynccontextmanager
async def screen(size: tuple[int, int] = (80, 24), **options: Any) -> AsyncIterator[ScreenLab]:
    """A screen of this size, with a session that has just begun."""
    client = PlayedClient()
    app = ClewApp(client, ScreenOptions(**options))
    async with app.run_test(size=size) as pilot:
        lab = ScreenLab(app, client, pilot)
        await lab.tell(started(), snapshot())
        yield lab
