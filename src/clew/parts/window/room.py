"""What makes room in the window of a session: summaries, the ops about the window, sections written ahead of need.

It is loaded when room is needed for the first time.
"""

from contextlib import aclosing
from functools import cached_property

from clew.engine.compaction.budgets import budgets_for
from clew.engine.compaction.compact import prepare
from clew.engine.compaction.compactor import Compactor, Consent
from clew.engine.compaction.sections import SectionFailed
from clew.engine.compaction.window_meter import WindowMeter
from clew.host.part import PartSession, PartSetup
from clew.llm.model import Model
from clew.orient.daily_cap import DailyCap
from clew.orient.fast_model import side_model
from clew.parts.window.live_state import SessionLiveState
from clew.parts.window.window import Window
from clew.protocol.events import SideQueryBooked

PURPOSE = "compaction"
MIN_SHARE = 16
"""A section is worth its price when it stands for at least this part of the window."""


class WindowRoom:
    """One per session, for all front ends, which must not get into each other's way."""

    def __init__(self, setup: PartSetup, own: PartSession, meter: WindowMeter, consent: Consent | None) -> None:
        self._setup = setup
        self._own = own
        self._meter = meter
        self._consent = consent

    @cached_property
    def compactor(self) -> Compactor:
        """What makes the view smaller."""
        toolbox = self._own.toolbox
        return Compactor(
            self._own.agent,
            self._setup.workspace.settings.compaction,
            meter=self._meter,
            live=SessionLiveState(toolbox, lambda: self._own.session.journal.main.state),
            forget_reads=toolbox.session.forget_reads,
            log=self._setup.log,
            consent=self._consent,
        )

    @cached_property
    def window(self) -> Window:
        """The ops about the window."""
        session = self._own.session
        return Window(
            self._own.agent,
            session.main,
            self._meter,
            lambda: self.compactor,
            publish=session.publish,
            path=self._setup.past.path,
            remind=self._own.reminders.add,
        )

    @cached_property
    def fast_model(self) -> Model | None:
        """What writes ahead of need; None where there is none."""
        setup = self._setup
        return side_model(setup.workspace.settings, self._own.agent.model.name, setup.connect, setup.log)

    @property
    def may_write(self) -> bool:
        """Whether there is a fast model, and the daily cap has room."""
        return self.fast_model is not None and self._cap.allows()

    @property
    def _cap(self) -> DailyCap:
        workspace = self._setup.workspace
        return DailyCap(workspace.home, workspace.settings.side_queries.daily_cap_usd)

    async def write(self, tokens: int) -> int:
        """Write sections ahead of need with the fast model. Above how many tokens it may be tried again; 0: always."""
        model = self.fast_model
        assert model is not None
        limits = self._meter.limits(self._own.agent)
        budgets = budgets_for(limits.window, limits.auto)
        try:
            async with aclosing(
                prepare(self.compactor.past, model=model, budgets=budgets, min_tokens=limits.window // MIN_SHARE)
            ) as events:
                async for event in events:
                    self._own.session.publish(event)
                    if isinstance(event, SideQueryBooked):
                        self._cap.add(event.cost_usd or 0.0, PURPOSE)
        except SectionFailed as error:
            # Not tried again before the conversation has grown: a failure that repeats is paid for each time.
            self._setup.log(f"snapshot: {error}")
            return tokens + limits.window // 10
        except Exception as error:  # task boundary: work ahead of need must never harm a session
            self._setup.log(f"snapshot: internal error: {type(error).__name__}: {error}")
            return limits.window
        return 0

    async def close(self) -> None:
        """The fast model is let go, if there was one."""
        if "fast_model" in vars(self) and self.fast_model is not None:
            await self.fast_model.close()
