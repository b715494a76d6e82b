"""Sections written ahead of need: when the window is more than half full, so that compaction need not wait."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.thresholds import wants_snapshot
from clew.engine.compaction.window_meter import WindowMeter
from clew.llm.model import Model
from clew.protocol.events import Event, SideQueryBooked, StepEnded, TurnEnded

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Compactor

PURPOSE = "compaction"
MIN_SHARE = 16
"""A section is worth its price when it stands for at least this part of the window."""


class Snapshots:
    """Hears the session and works beside it, one stretch at a time, with the fast model only. It changes no view."""

    def __init__(
        self,
        agent: Agent,
        settings: Compaction,
        *,
        meter: WindowMeter,
        compactor: "Callable[[], Compactor]",
        fast: Callable[[], Model | None],
        allowed: Callable[[], bool],
        spent: Callable[[float], None],
        publish: Callable[[Event], None],
        log: Callable[[str], None],
    ) -> None:
        """`fast`: the fast model, if there is one; asked once. `allowed`: the daily cap has room."""
        self._agent = agent
        self._settings = settings
        self._meter = meter
        self._compactor = compactor
        self._fast = fast
        self._allowed = allowed
        self._spent = spent
        self._publish = publish
        self._log = log
        self._model: Model | None = None
        self._looked = False
        self._failed_at = 0
        self._task: asyncio.Task[None] | None = None

    def hear(self, event: Event) -> None:
        """After a step or a turn there may be something new to write."""
        if not isinstance(event, StepEnded | TurnEnded) or (self._task is not None and not self._task.done()):
            return
        tokens = self._meter.tokens(self._agent)
        if tokens <= self._failed_at or not wants_snapshot(self._settings, self._meter.limits(self._agent), tokens):
            return
        if not self._looked:
            self._looked, self._model = True, self._fast()
        if self._model is not None and self._allowed():
            self._task = asyncio.create_task(self._write(self._model, tokens))

    async def close(self) -> None:
        """Stop; what was written stays."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._model is not None:
            await self._model.close()

    async def _write(self, model: Model, tokens: int) -> None:
        from clew.engine.compaction.budgets import budgets_for  # loaded when there is something to write
        from clew.engine.compaction.compact import prepare
        from clew.engine.compaction.sections import SectionFailed

        limits = self._meter.limits(self._agent)
        budgets = budgets_for(limits.window, limits.auto)
        past = self._compactor().past
        try:
            async with aclosing(
                prepare(past, model=model, budgets=budgets, min_tokens=limits.window // MIN_SHARE)
            ) as events:
                async for event in events:
                    self._publish(event)
                    if isinstance(event, SideQueryBooked):
                        self._spent(event.cost_usd or 0.0)
        except SectionFailed as error:
            # Not tried again before the conversation has grown: a failure that repeats is paid for each time.
            self._failed_at = tokens + limits.window // 10
            self._log(f"snapshot: {error}")
        except Exception as error:  # task boundary: work ahead of need must never harm a session
            self._failed_at = limits.window
            self._log(f"snapshot: internal error: {type(error).__name__}: {error}")
