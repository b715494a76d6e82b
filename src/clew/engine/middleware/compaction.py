"""Room before it is needed: the only place where a turn makes its view smaller."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.thresholds import Thresholds, thresholds_in_force
from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn, TurnStopped
from clew.protocol.context_events import CompactionKind, ContextMeasured
from clew.protocol.events import CompactionEnded, Event, ViewTrimmed
from clew.protocol.ids import OpId

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Compactor

CHARS_PER_TOKEN = 4
FULL = (
    "the window is full: {tokens:,} tokens of {window:,}, and automatic compaction is off. /compact makes room, "
    "/compact fast only clears old outputs, /clear begins anew, /context shows what fills it"
)


class Gauge(Protocol):
    """Tells how full the window of an agent is."""

    def tokens(self, agent: Agent) -> int | None:
        """What its next request will hold; None when nobody knows."""
        ...

    def measured(self, agent: Agent, *, op_id: OpId | None = None, detailed: bool = False) -> ContextMeasured:
        """The same as an event, as the answer to an op; `detailed`: with what fills it."""
        ...


class MakeRoom(Middleware):
    """Looks before every request, and loads the machine only where there is something to do."""

    def __init__(
        self,
        settings: Compaction,
        gauge: Gauge,
        compactor: "Callable[[], Compactor]",
        *,
        idle_s: float | None = None,
    ) -> None:
        """`idle_s`: how long a resumed session had paused when this process began."""
        self._settings = settings
        self._gauge = gauge
        self._compactor = compactor
        self._idle_s = idle_s
        self._worked_at: float | None = None

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """A request that did not fit comes first; then the size of the next one is looked at."""
        if turn.full is not None:
            async for event in self._after_overflow(turn):
                yield event
            return
        agent = turn.agent
        if turn.steps == 0 and (idle := self._idle()) and (event := self._compactor().cleared("idle")) is not None:
            yield event
            self._idle_s = None if idle else self._idle_s
        tokens = self._gauge.tokens(agent)
        limits = self._limits(agent)
        if tokens is None or not limits.window:
            return
        if self._outputs_may_be_long(tokens) and (event := self._compactor().cleared_by_size()) is not None:
            yield event
            tokens = self._gauge.tokens(agent) or tokens
        if not self._settings.auto:
            if tokens >= limits.blocking:
                raise TurnStopped("prompt_too_long", FULL.format(tokens=tokens, window=limits.window))
            return
        kind = self._due(turn, limits, tokens)
        if kind is not None and not (compactor := self._compactor()).is_off:
            async with aclosing(compactor.by_itself(kind)) as events:
                async for event in events:
                    yield event

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """The meter moves."""
        self._worked_at = time.monotonic()
        yield self._gauge.measured(turn.agent)

    def _due(self, turn: Turn, limits: Thresholds, tokens: int) -> CompactionKind | None:
        if tokens >= limits.auto:
            return "auto"
        return "predictive" if turn.steps == 0 and limits.predicts(tokens) else None

    async def _after_overflow(self, turn: Turn) -> AsyncGenerator[Event]:
        """Pictures first, where those were refused; else everything that helps. Whoever made room says so."""
        assert turn.full is not None
        compactor = self._compactor()
        if turn.full.about_media and (event := compactor.cleared("media")) is not None:
            yield event
            turn.full = None
            return
        async with aclosing(compactor.by_itself("reactive")) as events:
            async for event in events:
                yield event
                if isinstance(event, CompactionEnded | ViewTrimmed):
                    turn.full = None

    def _limits(self, agent: Agent) -> Thresholds:
        cap = agent.max_output_tokens or agent.model.max_output_tokens
        return thresholds_in_force(self._settings, window=agent.model.window, output_cap=cap)

    def _idle(self) -> bool:
        """Whether the last request is so long ago that no provider has it in its cache any more."""
        since = self._idle_s if self._worked_at is None else time.monotonic() - self._worked_at
        minutes = self._settings.idle_minutes
        return since is not None and minutes is not None and since >= minutes * 60

    def _outputs_may_be_long(self, tokens: int) -> bool:
        """Looking at every output takes time; most windows cannot hold so much of it."""
        limit = self._settings.tool_output_chars
        return limit is not None and tokens * CHARS_PER_TOKEN * 2 > limit
