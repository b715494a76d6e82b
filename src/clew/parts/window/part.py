"""The window of a session: its meter and its gate from the start, what makes room in it when it is needed."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from clew.engine.compaction.thresholds import wants_snapshot
from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.compaction import MakeRoom
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.past import Past
from clew.host.session import EndReason
from clew.protocol.entries import ChainEntry
from clew.protocol.events import Event, StepEnded, TurnEnded
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.session import ContextShown, ReceiptShown, RequestContext, RequestReceipt
from clew.protocol.ops import ClearContext, Compact, Pin, Recall, Snip, UndoCompact, WindowOp

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Consent
    from clew.parts.window.room import WindowRoom

    MakeWindowRoom = Callable[[PartSetup, PartSession, WindowMeter, Consent | None], WindowRoom]


class WindowPart(Part):
    """Measures the window before each request and makes room in it; the ops about it, and work ahead of need."""

    def __init__(self, setup: PartSetup, make_room: "MakeWindowRoom", *, consent: "Consent | None") -> None:
        """`make_room`: loads what makes room. `consent`: who is asked before a summary is made."""
        self._setup = setup
        self._settings = setup.workspace.settings.compaction
        self._make_room = make_room
        self._consent = consent
        self._made: WindowRoom | None = None
        self._ahead: asyncio.Task[None] | None = None
        self._failed_at = 0
        self._meter = WindowMeter(self._settings, idle_s=idle_s(setup.past))
        self.middlewares = (MakeRoom(self._settings, self._meter, lambda: self._room.compactor),)
        wanted = setup.workspace.settings.side_queries
        self._works_ahead = self._settings.snapshot and self._settings.auto and wanted.enabled

    def start(self, own: PartSession) -> None:
        """From now on everything is there."""
        self._own = own

    @property
    def _room(self) -> "WindowRoom":
        if self._made is None:
            self._made = self._make_room(self._setup, self._own, self._meter, self._consent)
        return self._made

    def introduction(self) -> tuple[Event, ...]:
        """What the first request after the pause will cost, when that is worth a word."""
        cold = None if self._setup.request.headless else self._meter.cold_return(self._own.agent)
        return (cold,) if cold is not None else ()

    def on(self, event: Event, agent: AgentId) -> None:
        """When the window is more than half full, sections are written after a step or a turn, one stretch at a time,
        with the fast model only: a compaction need not wait for them then. No view is changed."""
        if agent != MAIN_AGENT or not self._works_ahead or not isinstance(event, StepEnded | TurnEnded):
            return
        if self._ahead is not None and not self._ahead.done():
            return
        main = self._own.agent
        tokens = self._meter.tokens(main)
        if tokens <= self._failed_at or not wants_snapshot(self._settings, self._meter.limits(main), tokens):
            return
        if self._room.may_write:
            self._ahead = asyncio.create_task(self._write(tokens))

    async def _write(self, tokens: int) -> None:
        self._failed_at = await self._room.write(tokens) or self._failed_at

    async def let_go(self) -> None:
        """Nothing more is written ahead; what was written stays."""
        self._works_ahead = False
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.gather(self._ahead, return_exceptions=True)
        if self._made is not None:
            await self._made.close()

    async def leave(self, reason: EndReason) -> None:
        """As when the session goes to another process."""
        await self.let_go()

    def ops(self) -> OpHandlers:
        """What makes room, takes things out or brings them back."""
        return dict.fromkeys((Compact, ClearContext, Snip, UndoCompact, Pin, Recall), self._understood)

    def lookups(self) -> Answerers:
        """What fills the window, and what the last compaction did."""
        return {RequestContext: self._context, RequestReceipt: self._receipt}

    async def _understood(self, op: WindowOp) -> Effect:
        if self._own.session.lost:
            raise OpRefused(f"nothing was changed: {self._own.session.lost}")
        return await self._room.window.understood(op)

    async def _context(self, lookup: RequestContext) -> ContextShown:
        return ContextShown(measured=self._room.window.measured())

    async def _receipt(self, lookup: RequestReceipt) -> ReceiptShown:
        return ReceiptShown(receipt=self._room.window.receipt())


def idle_s(past: Past) -> float | None:
    """How long a resumed session lay there; None for a new one."""
    last = next((entry for entry in reversed(past.chain or ()) if isinstance(entry, ChainEntry)), None)
    if last is None:
        return None
    try:
        return max(0.0, time.time() - datetime.fromisoformat(last.timestamp).timestamp())
    except ValueError:
        return None
