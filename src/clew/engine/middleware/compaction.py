"""Room before it is needed: the only place where a turn makes its view smaller."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from clew.config.schema import Compaction
from clew.engine.compaction.slimming import media_load
from clew.engine.compaction.thresholds import Thresholds
from clew.engine.compaction.window_meter import WindowMeter
from clew.engine.middleware.base import Middleware
from clew.engine.turn import ContextFull, RequestRefused, Turn, TurnStopped
from clew.protocol.event_kinds.context import CompactionKind
from clew.protocol.events import CompactionEnded, Event, Notice, ViewTrimmed
from clew.text.figures import count
from clew.text.terminal_text import clip, sanitize

if TYPE_CHECKING:
    from clew.engine.compaction.compactor import Compactor

CHARS_PER_TOKEN = 4
REFUSALS = ("model_error", "prompt_too_long")
"""How the turns of prompts ended that a provider may refuse again."""
MAX_ERROR = 200
"""Columns of a provider's words that are said again."""
FULL = (
    "the window is full: {tokens:,} tokens of {window:,}, and automatic compaction is off. /compact makes room, "
    "/compact fast only clears old outputs, /clear begins anew, /context shows what fills it"
)
LEFT_OUT = "the provider refused the request ({error}); trying without {what}, which /compact undo brings back"


class MakeRoom(Middleware):
    """Looks before every request, and loads the machine only where there is something to do."""

    stage = 3

    def __init__(
        self,
        settings: Compaction,
        meter: WindowMeter,
        compactor: "Callable[[], Compactor]",
    ) -> None:
        self._settings = settings
        self._meter = meter
        self._compactor = compactor

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """A request that did not fit comes first; then the size of the next one is looked at."""
        if isinstance(turn.full, RequestRefused):
            for event in self._after_refusal(turn):
                yield event
            return
        if turn.full is not None:
            async for event in self._after_overflow(turn, turn.full):
                yield event
            return
        agent = turn.agent
        if turn.steps == 0 and self._is_idle() and (event := self._compactor().cleared("idle")) is not None:
            yield event
        too_much = media_load(agent.conversation.messages()).is_too_much
        if too_much and (event := self._compactor().cleared("media_limit")) is not None:
            yield event
        tokens = self._meter.tokens(agent)
        limits = self._meter.limits(agent)
        if not limits.window:
            return
        if self._outputs_may_be_long(tokens) and (event := self._compactor().cleared_by_size()) is not None:
            yield event
            tokens = self._meter.tokens(agent)
        if tokens >= min(limits.auto, limits.blocking) and (event := self._without_refused(turn)) is not None:
            yield event
            tokens = self._meter.tokens(agent)
        kind = self._due(turn, limits, tokens)
        if not self._settings.auto or (kind is not None and self._compactor().is_off):
            if tokens >= limits.blocking:
                raise TurnStopped("prompt_too_long", FULL.format(tokens=tokens, window=limits.window))
        elif kind is not None:
            async with aclosing(self._compactor().by_itself(kind)) as events:
                async for event in events:
                    yield event

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """The meter moves."""
        self._meter.worked()
        if words := self._meter.notice(turn.agent):
            yield Notice(level="warning", text=words, code="truncated")
        yield self._meter.measured(turn.agent)

    def _due(self, turn: Turn, limits: Thresholds, tokens: int) -> CompactionKind | None:
        if tokens >= limits.auto:
            return "auto"
        return "predictive" if turn.steps == 0 and limits.predicts(tokens) else None

    def _after_refusal(self, turn: Turn) -> Iterator[Event]:
        """What may be why this is refused leaves the view: at the start of a turn the prompts that were refused before,
        and the results that no request was answered with yet. The loop brings it back when that does not help."""
        assert turn.full is not None
        what: list[str] = []
        error = clip(sanitize(turn.full.error, one_line=True), MAX_ERROR)
        compactor = self._compactor()
        prompts = compactor.without_refused(turn.joined, REFUSALS) if turn.steps == 1 else None
        if prompts is not None:
            yield prompts
            turn.left_out.append(prompts.entry_id)
            what.append(f"what was said and refused before ({len(prompts.removed):,})")
        if (results := compactor.without_unseen(error)) is not None:
            yield results
            turn.left_out.append(results.entry_id)
            what.append(f"{count(len(results.results), 'result')} of tools")
        if what:
            yield Notice(level="warning", text=LEFT_OUT.format(error=error, what=" and ".join(what)), code="left_out")
            turn.full = None

    async def _after_overflow(self, turn: Turn, full: ContextFull) -> AsyncGenerator[Event]:
        """Pictures first, where those were refused; else everything that helps. Whoever made room says so."""
        compactor = self._compactor()
        if full.about_media and (event := compactor.cleared("media")) is not None:
            yield event
            turn.full = None
            return
        before = self._meter.tokens(turn.agent)
        if (event := self._without_refused(turn)) is not None:
            yield event
            turn.full = None
            if compactor.has_room(before):
                return
        async with aclosing(compactor.by_itself("reactive")) as events:
            async for event in events:
                yield event
                if isinstance(event, CompactionEnded | ViewTrimmed):
                    turn.full = None

    def _without_refused(self, turn: Turn) -> Event | None:
        """What was refused for want of room and said again in other words takes no room for ever; looked at before the
        first request of a turn, and once more when the provider found it too long."""
        if turn.steps > 1:
            return None
        return self._compactor().without_refused(turn.joined)

    def _is_idle(self) -> bool:
        """Whether the last request is so long ago that no provider has it in its cache any more."""
        idle_s, minutes = self._meter.idle_s, self._settings.idle_minutes
        return idle_s is not None and minutes is not None and idle_s >= minutes * 60

    def _outputs_may_be_long(self, tokens: int) -> bool:
        """Looking at every output takes time; most windows cannot hold so much of it."""
        limit = self._settings.tool_output_chars
        return limit is not None and tokens * CHARS_PER_TOKEN * 2 > limit
