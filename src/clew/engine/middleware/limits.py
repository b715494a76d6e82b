"""Budgets that bite: steps of a turn; money, tokens and time of the session."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator

from clew.engine.middleware.base import Middleware
from clew.engine.ports import Limits, Purse, Reserved
from clew.engine.turn import Turn, TurnStopped
from clew.protocol.events import CostThresholdReached, Event, Notice
from clew.protocol.tally import Tally
from clew.text.figures import money

TELL_AT = 0.8
"""The share of a money budget at which people are told."""


class LimitCheck(Middleware):
    """Stops before the request that would go over; results already there are recorded. Time also stops what runs."""

    stage = -3

    def __init__(
        self,
        limits: Limits,
        *,
        purse: Purse | None = None,
        spent: Callable[[], Tally] | None = None,
        whose: str = "the session",
    ) -> None:
        """`purse`: what it shares with other agents; None: it spends alone. `spent`: what counts here; None: all that
        its session used. `whose` limits they are, for the words."""
        self._limits = limits
        self._purse = purse
        self._spent = spent
        self._whose = whose
        self._warned = False
        self._told = False
        self._timer: asyncio.TimerHandle | None = None

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Steps first, then money, tokens, time."""
        limits, spent = self._limits, (self._spent or turn.spent)()
        held = self._purse.reserved() if self._purse is not None else Reserved()
        if limits.max_steps is not None and turn.steps >= limits.max_steps:
            raise TurnStopped("max_turns", f"stopped after {turn.steps} steps, the limit of this run")
        if limits.max_tokens is not None and spent.tokens + held.tokens >= limits.max_tokens:
            under_way = f" and requests under way may use {held.tokens:,}" if held.tokens else ""
            words = f"{self._whose} used {spent.tokens:,} tokens{under_way}, its limit is {limits.max_tokens:,}"
            raise TurnStopped("max_tokens", f"{words} (limits.maxTokens)")
        if limits.max_minutes is not None:
            self._watch_time(turn, limits.max_minutes * 60 - spent.work_ms / 1000)
        if limits.max_budget_usd is not None:
            for event in self._money(turn, spent, held.cost_usd, limits.max_budget_usd):
                yield event
        if self._purse is not None:
            self._purse.reserve()

    def _money(self, turn: Turn, spent: Tally, held_usd: float, budget_usd: float) -> Iterator[Event]:
        if spent.cost_usd + held_usd >= budget_usd:
            under_way = f" and requests under way may cost {money(held_usd)}" if held_usd else ""
            raise TurnStopped(
                "max_budget", f"spent {money(spent.cost_usd)}{under_way}, the budget is {money(budget_usd)}"
            )
        if spent.cost_usd >= TELL_AT * budget_usd and not self._told:
            self._told = True
            yield CostThresholdReached(spent_usd=spent.cost_usd, budget_usd=budget_usd)
        if spent.unpriced and not self._warned:
            self._warned = True
            text = f"the price of {turn.agent.model.name} is unknown, so the money budget cannot hold"
            yield Notice(level="warning", text=text, code="unpriced")

    def _watch_time(self, turn: Turn, left_s: float) -> None:
        """`left_s`: what earlier turns left. The switch is thrown when it is used up, also within a step."""
        left_s -= turn.duration_ms / 1000
        if left_s <= 0:
            words = f"{self._whose} worked for {self._limits.max_minutes:g} minutes, its limit (limits.maxMinutes)"
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
        """The turn is over in time; for a program it may still have cost more than it was given."""
        if self._timer is not None:
            self._timer.cancel()
        budget_usd, spent = self._limits.max_budget_usd, (self._spent or turn.spent)()
        if self._limits.tells_overspending and budget_usd is not None and spent.cost_usd > budget_usd:
            raise TurnStopped("max_budget", f"spent {money(spent.cost_usd)}, the budget is {money(budget_usd)}")
