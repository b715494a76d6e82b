"""The window of a session: its meter and its gate from the start, the rest when it is needed."""

import time
from datetime import datetime
from typing import TYPE_CHECKING

from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.compaction import MakeRoom
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.past import Past
from clew.host.session import EndReason
from clew.llm.model import Model
from clew.protocol.entries import ChainEntry
from clew.protocol.events import Event
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.lookups.session import ContextShown, ReceiptShown, RequestContext, RequestReceipt
from clew.protocol.ops import ClearContext, Compact, Pin, Recall, Snip, UndoCompact, WindowOp

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Compactor, Consent
    from clew.orient.daily_cap import DailyCap
    from clew.parts.window.snapshots import Snapshots
    from clew.parts.window.window import Window


class WindowPart(Part):
    """Measures the window before each request and makes room in it; the ops about it, and work ahead of need."""

    def __init__(self, setup: PartSetup, *, consent: "Consent") -> None:
        """`consent`: who is asked before a summary is made."""
        self._setup = setup
        self._settings = setup.workspace.settings.compaction
        self._consent = consent
        self._made: Compactor | None = None
        self._window: Window | None = None
        self._snapshots: Snapshots | None = None
        self._meter = WindowMeter(self._settings, idle_s=idle_s(setup.past))
        self.middlewares = (MakeRoom(self._settings, self._meter, self._compactor),)

    def start(self, own: PartSession) -> None:
        """From now on everything is there."""
        self._own = own
        self._agent = own.agent
        self._snapshots = self._work_ahead()

    def introduction(self) -> tuple[Event, ...]:
        """What the first request after the pause will cost, when that is worth a word."""
        cold = None if self._setup.request.headless else self._meter.cold_return(self._agent)
        return (cold,) if cold is not None else ()

    def on(self, event: Event, agent: AgentId) -> None:
        """After a step there may be something to write ahead of need."""
        if agent == MAIN_AGENT and self._snapshots is not None:
            self._snapshots.hear(event)

    async def let_go(self) -> None:
        """Nothing more is written ahead."""
        if self._snapshots is not None:
            snapshots, self._snapshots = self._snapshots, None
            await snapshots.close()

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
        return await self.window().understood(op)

    async def _context(self, lookup: RequestContext) -> ContextShown:
        return ContextShown(measured=self.window().measured())

    async def _receipt(self, lookup: RequestReceipt) -> ReceiptShown:
        return ReceiptShown(receipt=self.window().receipt())

    def _compactor(self) -> "Compactor":
        """Made when room is needed for the first time."""
        if self._made is None:
            from clew.engine.compaction.compactor import Compactor
            from clew.parts.window.live_state import SessionLiveState

            toolbox = self._own.toolbox
            self._made = Compactor(
                self._agent,
                self._settings,
                meter=self._meter,
                live=SessionLiveState(toolbox, lambda: self._own.session.runners),
                forget_reads=toolbox.session.forget_reads,
                log=self._setup.log,
                consent=self._consent,
            )
        return self._made

    def window(self) -> "Window":
        """For the ops about it: one for all front ends, which must not get into each other's way."""
        if self._window is None:
            from clew.parts.window.window import Window

            session = self._own.session
            self._window = Window(
                self._agent,
                session.main,
                self._meter,
                self._compactor,
                publish=session.publish,
                path=self._setup.past.path,
                remind=self._own.reminders.add,
            )
        return self._window

    def _work_ahead(self) -> "Snapshots | None":
        """Where the user wants it."""
        workspace = self._setup.workspace
        wanted = workspace.settings.side_queries
        if not (self._settings.snapshot and self._settings.auto and wanted.enabled):
            return None

        from clew.parts.window.snapshots import PURPOSE, Snapshots  # where the user wants it

        def cap() -> "DailyCap":
            from clew.orient.daily_cap import DailyCap  # loaded when there is something to pay for

            return DailyCap(workspace.home, wanted.daily_cap_usd)

        return Snapshots(
            self._agent,
            self._settings,
            meter=self._meter,
            compactor=self._compactor,
            fast=self._fast_model,
            allowed=lambda: cap().allows(),
            spent=lambda usd: cap().add(usd, PURPOSE),
            publish=self._own.session.publish,
            log=self._setup.log,
        )

    def _fast_model(self) -> Model | None:
        from clew.orient.fast_model import side_model  # loaded when there is something to write

        setup = self._setup
        return side_model(setup.workspace.settings, self._agent.model.name, setup.connect, setup.log)


def idle_s(past: Past) -> float | None:
    """How long a resumed session lay there; None for a new one."""
    last = next((entry for entry in reversed(past.chain or ()) if isinstance(entry, ChainEntry)), None)
    if last is None:
        return None
    try:
        return max(0.0, time.time() - datetime.fromisoformat(last.timestamp).timestamp())
    except ValueError:
        return None
