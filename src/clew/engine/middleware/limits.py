"""Budgets that bite: steps and money."""

from collections.abc import Iterable

from clew.engine.errors import TurnStopped
from clew.engine.ports import Limits
from clew.engine.turn import Turn
from clew.protocol.events import Event, Notice


class LimitCheck:
    """Stops before the request that would go over; results already there are recorded."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._warned = False

    async def before_step(self, turn: Turn) -> Iterable[Event]:
        """Steps first, then money."""
        limits = self._limits
        if limits.max_steps is not None and turn.steps >= limits.max_steps:
            raise TurnStopped("max_turns", f"stopped after {turn.steps} steps, the limit of this run")
        if limits.max_budget_usd is None:
            return ()
        if turn.spent_usd >= limits.max_budget_usd:
            raise TurnStopped("max_budget", f"spent ${turn.spent_usd:.4f}, the budget is ${limits.max_budget_usd:.4f}")
        if turn.unpriced and not self._warned:
            self._warned = True
            text = f"the price of {turn.agent.model.name} is unknown, so the money budget cannot hold"
            return (Notice(agent=turn.agent.id, level="warning", text=text, code="unpriced"),)
        return ()
