"""What one turn knows of itself; middlewares read it."""

import time

from clew.engine.abort import Abort
from clew.engine.agent import Agent
from clew.engine.recovery import Recovery
from clew.protocol.usage import Usage


class Turn:
    """Counters of the running turn and the session's cost so far."""

    def __init__(self, *, number: int, agent: Agent, recovery: Recovery, abort: Abort, spent_usd: float) -> None:
        self.number = number
        self.agent = agent
        self.recovery = recovery
        self.abort = abort
        self.steps = 0
        self.unanswered = False
        """The conversation ends with tool results or a hidden prompt that the model has yet to see."""
        self.usage: Usage | None = None
        self.cost_usd: float | None = None
        self.unpriced = False
        """A reply came whose price is unknown, so money limits cannot hold."""
        self._spent_before = spent_usd
        self._started = time.monotonic()

    @property
    def spent_usd(self) -> float:
        """Money spent by the session, this turn included."""
        return self._spent_before + (self.cost_usd or 0.0)

    @property
    def duration_ms(self) -> int:
        """Since the turn began."""
        return int((time.monotonic() - self._started) * 1000)

    def book(self, usage: Usage | None, cost_usd: float | None) -> None:
        """Add one reply."""
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage
        if cost_usd is None:
            self.unpriced = True
        else:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd
