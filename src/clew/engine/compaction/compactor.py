"""Compaction of one agent: what is tried in which order, and when it is not tried any more."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import aclosing

from msgspec.structs import replace

from clew.config.schema import Compaction
from clew.engine.agent import Agent
from clew.engine.compaction.budgets import Budgets, budgets_for
from clew.engine.compaction.compact import CompactionInput, compact, in_words, past_of
from clew.engine.compaction.live_state import LiveState
from clew.engine.compaction.micro import Trigger, due, trim, without_unseen
from clew.engine.compaction.sizes import Sizes
from clew.engine.compaction.stretches import refused_prompts
from clew.engine.compaction.window_meter import WindowMeter
from clew.protocol.event_kinds.context import CompactionKind
from clew.protocol.events import (
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    Notice,
    RangeSnipped,
    SectionKept,
    ViewTrimmed,
)
from clew.protocol.ids import EntryId, new_entry_id
from clew.transcript.chain.links import uuid_of

MAX_FAILURES = 3
MAX_FULL_PASSES = 2
"""Compactions in a row that left the window as full as before."""
WAYS_OUT = (
    "/compact tries again, /compact fast only clears old outputs, /clear begins anew, /context shows what fills it, "
    "and /model may know a larger window"
)


BY_FACTS = (
    "no summary of {model} could be used, so the record of what was done is made of facts alone: changed files and "
    "failures; /compact tries again, the log keeps every word"
)
Consent = Callable[[CompactionKind, str], Awaitable[tuple[str, str]]]
"""Asked before a summary is made, with its focus: why it must not be, if so, and what more it should dwell on."""


class Compactor:
    """Yields events; whoever publishes them makes them true. Nothing changes before its CompactionEnded."""

    def __init__(
        self,
        agent: Agent,
        settings: Compaction,
        *,
        meter: WindowMeter,
        live: LiveState,
        forget_reads: Callable[[tuple[str, ...] | None], None],
        log: Callable[[str], None],
        consent: Consent | None = None,
    ) -> None:
        """`forget_reads`: the model no longer holds these files; None: any file."""
        self._agent = agent
        self._settings = settings
        self._meter = meter
        self._live = live
        self._forget_reads = forget_reads
        self._log = log
        self._consent = consent
        self._sizes = Sizes(in_words)
        self._failures = 0
        self._full_passes = 0
        self.is_off = False
        """Automatic compaction gave up, until one works."""

    @property
    def past(self) -> CompactionInput:
        """The conversation as it stands."""
        return past_of(self._agent.conversation, self._sizes)

    async def asked(self, focus: str = "") -> AsyncGenerator[Event]:
        """The user wants it now. A failure does not count against the automatic kind."""
        async with aclosing(self._summarised("manual", focus)) as events:
            async for event in events:
                yield event

    async def by_itself(self, kind: CompactionKind) -> AsyncGenerator[Event]:
        """Automatic: first what needs no model, when that is enough; else a summary; three failures end it."""
        before = self._meter.tokens(self._agent)
        if kind == "reactive" and (event := self.cleared("overflow")) is not None:
            yield event
            if self.has_room(before):
                return
        done = False
        async with aclosing(self._summarised(kind, "")) as events:
            async for event in events:
                done = done or isinstance(event, CompactionEnded)
                yield event
        if not done and kind != "reactive" and (event := self.cleared("overflow")) is not None:
            yield event
        if (words := self._counted(done=done)) and not self.is_off:
            self.is_off = True
            yield Notice(level="warning", text=words, code="compaction-off")

    def cleared(self, why: Trigger) -> Event | None:
        """Old outputs and media leave the view; None when there is nothing to clear."""
        conversation = self._agent.conversation
        done = trim(conversation.chain(), conversation.replacements, self._settings, why, entry_id=new_entry_id())
        if done is None:
            return None
        self._log(done.note)
        self._forget_reads(None if done.forget_all else done.forget)
        return done.event

    def cleared_by_size(self) -> Event | None:
        """The oldest outputs, when all of them together are too long."""
        conversation = self._agent.conversation
        if due(conversation.chain(), conversation.replacements, self._settings, idle_s=None) != "size":
            return None
        return self.cleared("size")

    def without_refused(
        self, joined: Collection[EntryId], reasons: Collection[str] = ("prompt_too_long",)
    ) -> RangeSnipped | None:
        """Prompts that were refused, as when the window was full, leave the view when another one takes their place.
        `joined`: what belongs to the turn under way. `reasons`: how their turns ended."""
        conversation = self._agent.conversation
        standing = {uuid_of(entry) for entry in conversation.chain()}
        removed = tuple(
            uuid for uuid in refused_prompts(conversation.entries, reasons) if uuid in standing and uuid not in joined
        )
        if not removed:
            return None
        return RangeSnipped(entry_id=new_entry_id(), parent_id=conversation.leaf, removed=removed)

    def without_unseen(self, error: str) -> ViewTrimmed | None:
        """Results that may be why a request was refused leave the view; None where the model has seen all of them."""
        conversation = self._agent.conversation
        done = without_unseen(conversation.chain(), conversation.replacements, error, entry_id=new_entry_id())
        if done is None:
            return None
        self._log(done.note)
        self._forget_reads(None if done.forget_all else done.forget)
        return done.event

    async def _summarised(self, kind: CompactionKind, focus: str) -> AsyncGenerator[Event]:
        yield CompactionStarted(kind=kind, focus=focus)
        if self._consent is not None:
            refused, more = await self._consent(kind, focus)
            if refused:
                yield CompactionFailed(kind=kind, reason=f"A hook does not want it: {refused}")
                return
            focus = "\n".join(words for words in (focus, more) if words)
        past, tokens = self.past, self._meter.tokens(self._agent)
        steps = compact(
            past,
            model=self._agent.model,
            budgets=self._budgets(past, tokens),
            kind=kind,
            live=self._live,
            focus=focus,
            tokens_before=tokens,
        )
        by_facts = False
        async with aclosing(steps) as events:
            async for event in events:
                by_facts = by_facts or (isinstance(event, SectionKept) and not event.model)
                if isinstance(event, CompactionEnded):
                    event = replace(event, tokens_after=self._meter.after(self._agent, event))
                    self._failures, self.is_off = 0, False
                    self._forget_reads(None)
                yield event
        if by_facts:
            yield Notice(level="warning", text=BY_FACTS.format(model=self._agent.model.name), code="compaction")

    def _budgets(self, past: CompactionInput, tokens: int) -> Budgets:
        """Shares of what the conversation may take: what every request begins with is not to be had."""
        limits = self._meter.limits(self._agent)
        fixed = max(0, tokens - past.measure()(past.chain))
        return budgets_for(limits.window - fixed, limits.auto - fixed)

    def has_room(self, before: int) -> bool:
        """Whether clearing alone was enough: well below the line, and less than before."""
        after = self._meter.tokens(self._agent)
        return after < self._meter.limits(self._agent).auto * 9 // 10 and after < before

    def _counted(self, *, done: bool) -> str:
        """Why automatic compaction ends here; "" when it goes on. `done`: a summary was made. Room that clearing makes
        is no success of the model's: its failures are paid for all the same."""
        self._failures = 0 if done else self._failures + 1
        after = self._meter.tokens(self._agent)
        full = done and after >= self._meter.limits(self._agent).auto
        self._full_passes = self._full_passes + 1 if full else 0
        if self._failures >= MAX_FAILURES:
            return f"automatic compaction failed {MAX_FAILURES} times in a row and is off now: {WAYS_OUT}"
        if self._full_passes >= MAX_FULL_PASSES:
            return f"compaction no longer makes room, so it does not come by itself any more: {WAYS_OUT}"
        return ""


def stopped(kind: CompactionKind) -> CompactionFailed:
    """It was stopped."""
    return CompactionFailed(kind=kind, reason="It was interrupted; nothing was changed.")
