"""Budgets that bite: steps of a turn; money, tokens and time of the session."""

import asyncio
from collections.abc import AsyncGenerator

from clew.engine.middleware.base import Middleware
from clew.engine.ports import Limits
from clew.engine.turn import Turn, TurnStopped
from clew.protocol.events import CostThresholdReached, Event, Notice

TELL_AT = 0.8
"""The share of a money budget at which people are told."""


class LimitCheck(Middleware):
    """Stops before the request that would go over; results already there are recorded. Time also stops what runs."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._warned = False
        self._told = False
        self._timer: asyncio.TimerHandle | None = None

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Steps first, then money, tokens, time."""
        limits, spent = self._limits, turn.spent()
        if limits.max_steps is not None and turn.steps >= limits.max_steps:
            raise TurnStopped("max_turns", f"stopped after {turn.steps} steps, the limit of this run")
        if limits.max_tokens is not None and spent.tokens >= limits.max_tokens:
            words = f"the session used {spent.tokens:,} tokens, its limit is {limits.max_tokens:,} (limits.maxTokens)"
            raise TurnStopped("max_tokens", words)
        if limits.max_minutes is not None:
            self._watch_time(turn, limits.max_minutes * 60 - spent.work_ms / 1000)
        if limits.max_budget_usd is None:
            return
        if spent.cost_usd >= limits.max_budget_usd:
            words = f"spent ${spent.cost_usd:.4f}, the budget is ${limits.max_budget_usd:.4f}"
            raise TurnStopped("max_budget", words)
        if spent.cost_usd >= TELL_AT * limits.max_budget_usd and not self._told:
            self._told = True
            yield CostThresholdReached(spent_usd=spent.cost_usd, budget_usd=limits.max_budget_usd)
        if spent.unpriced and not self._warned:
            self._warned = True
            text = f"the price of {turn.agent.model.name} is unknown, so the money budget cannot hold"
            yield Notice(level="warning", text=text, code="unpriced")

    def _watch_time(self, turn: Turn, left_s: float) -> None:
        """`left_s`: what earlier turns left. The switch is thrown when it is used up, also within a step."""
        left_s -= turn.duration_ms / 1000
        if left_s <= 0:
            words = f"the session worked for {self._limits.max_minutes:g} minutes, its limit (limits.maxMinutes)"
            raise TurnStopped("max_minutes", words)
        if self._timer is not None:
            self._timer.cancel()
        total_s = left_s + turn.duration_ms / 1000
        self._timer = asyncio.get_running_loop().call_later(left_s, self._time_is_up, turn, total_s)

    def _time_is_up(self, turn: Turn, total_s: float) -> None:
        """Unless people were waited for meanwhile: that time is not the agent's."""
        left_s = total_s - turn.duration_ms / 1000
        if left_s <= 0.001:
            turn.abort.throw("limit")
        elif not turn.abort.thrown:
            self._timer = asyncio.get_running_loop().call_later(left_s, self._time_is_up, turn, total_s)

    def before_end(self, turn: Turn) -> None:
        """The turn is over in time."""
        if self._timer is not None:
            self._timer.cancel()
