"""A connection: one front end at one session, with its own rights, op ids and queue of events.

The queue merges what only moves the screen and never drops what happened.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from clew.protocol.base import Rights
from clew.protocol.events import (
    AgentChanged,
    ArgumentsDelta,
    ContextMeasured,
    Envelope,
    Event,
    OpAccepted,
    OpRejected,
    ReasoningDelta,
    ReplyAwaited,
    RetryScheduled,
    ShellProgress,
    TaskChanged,
    TextDelta,
    ToolProgress,
)
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.ops import AnswerOp, Leave, Op, Sync

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


A = TypeVar("A", bound=Answer)
LEFT = "this connection has ended"


class ConnectedSession(Protocol):
    """What a connection needs of the session it is at."""

    @property
    def ended(self) -> bool:
        """Nothing is taken any more."""
        ...

    async def take(self, op: Op, asker: "Connection") -> None:
        """Do what a connection with the rights for it asks."""
        ...

    async def answer(self, lookup: Lookup[Any]) -> Answer:
        """Look something up. Raises LookupRefused."""
        ...

    def envelope(self, event: Event) -> Envelope:
        """An event with its place in the sequence."""
        ...

    def introduce(self, listener: Listener) -> None:
        """Tell a new listener where things stand."""
        ...

    def left(self, connection: "Connection") -> None:
        """It is gone."""
        ...


class Connection:
    """The Client of one front end. Rights are checked here and nowhere else; answers to its ops reach only it."""

    def __init__(self, session: ConnectedSession, rights: Rights, *, name: str = "", guest: bool = False) -> None:
        """`name` says who answers, for people. A `guest` did not open the session and stays with it when the one who
        did goes on with another."""
        self._session = session
        self._listeners: set[Listener] = set()
        self._left = False
        self.rights = rights
        self.name = name
        self.guest = guest

    async def submit(self, op: Op) -> None:
        """Take an op; what comes of it is told by events. After the end nothing is taken."""
        if self._left or self._session.ended:
            return
        if isinstance(op, Leave):
            self.leave()
        elif isinstance(op, Sync):
            self.tell(OpAccepted(op_id=op.op_id))
        elif op.needs > self.rights:
            self._refuse(op)
        else:
            await self._session.take(self._signed(op), self)

    async def look_up(self, lookup: Lookup[A]) -> A:
        """Ask, and wait for the one answer. Raises LookupRefused."""
        if self._left or self._session.ended:
            raise LookupRefused(LEFT)
        if lookup.needs > self.rights:
            raise LookupRefused(self._may_only(lookup.needs))
        answer: Any = await self._session.answer(lookup)
        return answer

    def events(self) -> Listener:
        """Everything from now on; ends after SessionEnded, or when this connection leaves."""
        listener = Listener(self._listeners.discard)
        if self._left or self._session.ended:
            listener.end()
            return listener
        self._session.introduce(listener)
        self._listeners.add(listener)
        return listener

    def hear(self, envelope: Envelope) -> None:
        """Something happened in the session."""
        for listener in list(self._listeners):
            listener.put(envelope)

    def tell(self, event: Event) -> None:
        """Something that only this front end is told: the answer to one of its ops."""
        self.hear(self._session.envelope(event))

    def each_listener(self, do: Callable[[Listener], None]) -> None:
        """For the session: whoever listens here is introduced to another one."""
        for listener in list(self._listeners):
            do(listener)

    def leave(self) -> None:
        """Stop hearing; the session goes on."""
        if not self._left:
            self._left = True
            self.end()
            self._session.left(self)

    def end(self) -> None:
        """Nothing comes any more; what is queued is still given."""
        for listener in list(self._listeners):
            listener.end()

    def _signed(self, op: Op) -> Op:
        """An answer names the front end that gave it, whatever its sender says."""
        if not isinstance(op, AnswerOp):
            return op
        return replace(op, via=self.name if self.guest else "")

    def _refuse(self, op: Op) -> None:
        tag = str(op.__struct_config__.tag)
        self.tell(OpRejected(op_id=op.op_id, op=tag, reason=self._may_only(op.needs)))

    def _may_only(self, needed: Rights) -> str:
        return f"this connection may only {self.rights.word}; it takes the right to {needed.word}"
