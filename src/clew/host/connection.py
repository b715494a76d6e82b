"""A connection: one front end at one session, with its own queue, op ids and rights."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from clew.host.listener import Listener
from clew.protocol.events import Envelope, Event, OpAccepted, OpRejected
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.ops import AnswerOp, Leave, Op, Sync
from clew.protocol.rights import Rights

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
