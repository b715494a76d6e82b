"""The window of a session, put together: its meter and its gate from the start, the rest when it is needed."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from clew.agents.toolbox import AgentTools
from clew.engine.agent import Agent
from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.compaction import MakeRoom
from clew.engine.middleware.reminders import Reminders
from clew.host.past import Past
from clew.host.session import Session
from clew.parts.window.snapshots import PURPOSE, Snapshots
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.protocol.entries import ChainEntry
from clew.protocol.events import ColdReturn

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Compactor, Consent
    from clew.parts.window.window import Window
    from clew.orient.daily_cap import DailyCap


class WindowParts:
    """Made before the session, which it learns of by `attach`."""

    def __init__(
        self, workspace: Workspace, past: Past, agent: Agent, toolbox: AgentTools, log: Callable[[str], None]
    ) -> None:
        self._workspace = workspace
        self._past = past
        self._agent = agent
        self._toolbox = toolbox
        self._log = log
        self._settings = workspace.settings.compaction
        self._made: Compactor | None = None
        self._window: Window | None = None
        self._session: Session | None = None
        self.consent: Consent | None = None
        """Who is asked before a summary is made."""
        self.meter = WindowMeter(self._settings, idle_s=idle_s(past))
        self.middleware = MakeRoom(self._settings, self.meter, self.compactor)

    def attach(self, session: Session) -> None:
        """From now on everything is there."""
        self._session = session

    def compactor(self) -> "Compactor":
        """Made when room is needed for the first time."""
        if self._made is None:
            from clew.engine.compaction.compactor import Compactor
            from clew.parts.window.live_state import SessionLiveState

            self._made = Compactor(
                self._agent,
                self._settings,
                meter=self.meter,
                live=SessionLiveState(self._toolbox, lambda: self._session.runners if self._session else {}),
                forget_reads=self._toolbox.session.forget_reads,
                log=self._log,
                consent=self.consent,
            )
        return self._made

    def window(self, reminders: Reminders) -> "Window":
        """For the ops about it: one for all front ends, which must not get into each other's way."""
        if self._window is None:
            from clew.parts.window.window import Window

            assert self._session is not None
            self._window = Window(
                self._agent,
                self._session.main,
                self.meter,
                self.compactor,
                publish=self._session.publish,
                path=self._past.path,
                remind=reminders.add,
            )
        return self._window

    def snapshots(self, fast: Callable[[], Model | None]) -> Snapshots | None:
        """Work ahead of need, where the user wants it."""
        settings = self._workspace.settings
        if not (self._settings.snapshot and self._settings.auto and settings.side_queries.enabled):
            return None
        assert self._session is not None

        def cap() -> "DailyCap":
            from clew.orient.daily_cap import DailyCap  # loaded when there is something to pay for

            return DailyCap(self._workspace.home, settings.side_queries.daily_cap_usd)

        return Snapshots(
            self._agent,
            self._settings,
            meter=self.meter,
            compactor=self.compactor,
            fast=fast,
            allowed=lambda: cap().allows(),
            spent=lambda usd: cap().add(usd, PURPOSE),
            publish=self._session.publish,
            log=self._log,
        )

    def cold_return(self) -> ColdReturn | None:
        """What the first request after the pause will cost, when that is worth a word."""
        return self.meter.cold_return(self._agent)


def idle_s(past: Past) -> float | None:
    """How long a resumed session lay there; None for a new one."""
    last = next((entry for entry in reversed(past.chain or ()) if isinstance(entry, ChainEntry)), None)
    if last is None:
        return None
    try:
        return max(0.0, time.time() - datetime.fromisoformat(last.timestamp).timestamp())
    except ValueError:
        return None
