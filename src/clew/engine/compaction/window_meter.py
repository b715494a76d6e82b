"""How full the window of an agent is, for whoever must act on it."""

import time

from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.meter import Meter, cold_return, next_cost_usd
from clew.engine.compaction.thresholds import Thresholds, thresholds_in_force
from clew.protocol.event_kinds.context import ColdReturn, ContextMeasured


class WindowMeter:
    """A meter with the user's settings and the time of the last request."""

    def __init__(self, settings: Compaction, *, idle_s: float | None = None) -> None:
        """`idle_s`: how long a resumed session had paused when this process began; None: it is new."""
        self._settings = settings
        self._meter = Meter()
        self._idle_before_s = idle_s
        self._began_s = time.monotonic()
        self._worked_s: float | None = None

    @property
    def idle_s(self) -> float | None:
        """Since the last request ended; None: there was none."""
        now = time.monotonic()
        if self._worked_s is not None:
            return now - self._worked_s
        return self._idle_before_s + now - self._began_s if self._idle_before_s is not None else None

    def worked(self) -> None:
        """A request has just ended."""
        self._worked_s = time.monotonic()

    def tokens(self, agent: Agent) -> int:
        """What its next request will hold."""
        return self._meter.read(agent).tokens

    def empty_tokens(self, agent: Agent) -> int:
        """What it would hold with nothing said."""
        return self._meter.base_tokens(agent)

    def limits(self, agent: Agent) -> Thresholds:
        """Where the window of the model in force counts as full."""
        cap = agent.max_output_tokens or agent.model.max_output_tokens
        return thresholds_in_force(self._settings, window=agent.model.window, output_cap=cap)

    def measured(self, agent: Agent, *, detailed: bool = False) -> ContextMeasured:
        """The same as an event; `detailed`: with what fills it."""
        return self._meter.measure(agent, self._settings, idle_s=self.idle_s, details=detailed)

    def notice(self, agent: Agent) -> str:
        """What to tell if the server did not read all of a request; empty else."""
        return self._meter.notice(agent)

    def cold_return(self, agent: Agent) -> ColdReturn | None:
        """What the first request after a long pause will cost, when that is worth a word."""
        idle_s = self.idle_s
        if cold_return(self._settings, idle_s=idle_s, tokens=1 << 40, cost_usd=None) is None:
            return None  # not worth measuring either
        reading = self._meter.read(agent)
        cost = next_cost_usd(agent.model, reading, idle_s=idle_s)
        return cold_return(self._settings, idle_s=idle_s, tokens=reading.tokens, cost_usd=cost)
