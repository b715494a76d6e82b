"""One front end's queue: merges what only moves the screen, never drops what happened."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace

from clew.protocol.events import (
    AgentChanged,
    ArgumentsDelta,
    ContextMeasured,
    Envelope,
    ReasoningDelta,
    ReplyAwaited,
    RetryScheduled,
    ShellProgress,
    TaskChanged,
    TextDelta,
    ToolProgress,
)

MAX_LIVE = 512
"""Queued events that may be dropped; beyond this the older half goes."""
MAX_MERGED_CHARS = 65_536

Growing = TextDelta | ReasoningDelta | ArgumentsDelta | ToolProgress | ShellProgress
"""Pieces of a text that grows."""
Droppable = Growing | ReplyAwaited | RetryScheduled | ContextMeasured | AgentChanged | TaskChanged
"""Events whose loss a later event makes good."""


class Listener(AsyncIterator[Envelope]):
    """What a front end iterates over. It hears everything from its making on, whether it reads at once or not."""

    def __init__(self, leave: Callable[["Listener"], None]) -> None:
        self._queue: deque[Envelope] = deque()
        self._arrived = asyncio.Event()
        self._leave = leave
        self._live = 0
        self._ended = False

    def put(self, envelope: Envelope) -> None:
        """Queue one event; it may join the one before it."""
        if self._ended:
            return
        if isinstance(envelope.event, Droppable):
            last = self._queue[-1] if self._queue else None
            merged = joined(last, envelope) if last is not None else None
            if merged is not None:
                self._queue[-1] = merged
                return
            self._live += 1
            if self._live > MAX_LIVE:
                self._thin_out()
        self._queue.append(envelope)
        self._arrived.set()

    @property
    def waiting(self) -> int:
        """How many events wait to be read."""
        return len(self._queue)

    def end(self) -> None:
        """Nothing comes any more; what is queued is still given."""
        self._ended = True
        self._arrived.set()

    async def aclose(self) -> None:
        """The front end stopped listening."""
        self._ended = True
        self._queue.clear()
        self._leave(self)

    async def __anext__(self) -> Envelope:
        while not self._queue:
            if self._ended:
                self._leave(self)
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        envelope = self._queue.popleft()
        self._live -= isinstance(envelope.event, Droppable)
        return envelope

    def _thin_out(self) -> None:
        """Texts that grow side by side are joined first, which loses nothing; then the oldest go."""
        kept: list[Envelope] = []
        growing: dict[object, int] = {}
        for envelope in self._queue:
            if isinstance(envelope.event, Growing):
                at = growing.setdefault((envelope.agent, type(envelope.event), key_of(envelope.event)), len(kept))
                if at < len(kept):
                    kept[at] = replace(kept[at], event=grown(kept[at], envelope).event)
                    self._live -= 1
                    continue
            kept.append(envelope)
        surplus = self._live - MAX_LIVE // 2
        self._queue.clear()
        for envelope in kept:
            if surplus > 0 and isinstance(envelope.event, Droppable):
                surplus -= 1
                self._live -= 1
            else:
                self._queue.append(envelope)


def grown(first: Envelope, second: Envelope) -> Envelope:
    """Two pieces of one text as one."""
    one, two = first.event, second.event
    assert isinstance(one, Growing)
    assert isinstance(two, Growing)
    return replace(second, event=replace(two, text=one.text + two.text))


def joined(first: Envelope, second: Envelope) -> Envelope | None:
    """Two pieces of one growing text as one; None when they do not belong together."""
    if first.agent != second.agent:
        return None
    one, two = first.event, second.event
    if isinstance(one, Growing) and isinstance(two, Growing) and type(one) is type(two):
        same = key_of(one) == key_of(two) and len(one.text) <= MAX_MERGED_CHARS
        return grown(first, second) if same else None
    return second if isinstance(one, ReplyAwaited) and isinstance(two, ReplyAwaited) else None


def key_of(event: Growing) -> tuple[str, int]:
    """Which text a piece belongs to."""
    match event:
        case ToolProgress():
            return event.call_id, 0
        case ShellProgress():
            return event.request_id, 0
        case _:
            return event.reply_id, event.part
