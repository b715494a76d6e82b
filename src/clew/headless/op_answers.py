"""Ops whose outcome somebody waits for: each has an id, and the events say what became of it."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from clew.protocol.client import Client
from clew.protocol.events import Event, EventBase, OpAccepted, OpRejected
from clew.protocol.ids import OpId
from clew.protocol.ops import Op

ENDED = "the session has ended"


class OpFailed(Exception):
    """The op was not done; the words say why."""


def never(event: Event) -> bool:
    """No other event answers it."""
    return False


class OpAnswers:
    """Fed with every event of the main agent."""

    def __init__(self, client: Client, prefix: str = "c") -> None:
        self._client = client
        self._prefix = prefix
        self._count = 0
        self._open: dict[OpId, tuple[asyncio.Future[Event], Callable[[Event], bool]]] = {}
        self._ended = False

    async def ask(
        self, op: Op, *kinds: type[EventBase], also: Callable[[Event], bool] = never
    ) -> "asyncio.Future[Event]":
        """Hand an op over. What comes back is done by the first event of these kinds that names this op, or names none,
        or that `also` is true for; without kinds by its being accepted. Or it raises Refused."""
        self._count += 1
        op_id = OpId(f"{self._prefix}{self._count}")
        answer: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        if self._ended:
            answer.set_exception(OpFailed(ENDED))
            return answer
        wanted = kinds or (OpAccepted,)
        self._open[op_id] = (
            answer,
            lambda event: (isinstance(event, wanted) and getattr(event, "op_id", op_id) == op_id) or also(event),
        )
        answer.add_done_callback(lambda _: self._open.pop(op_id, None))
        await self._client.submit(replace(op, op_id=op_id))
        return answer

    def take(self, event: Event) -> None:
        """Whatever this event answers is answered."""
        for op_id, (answer, until) in list(self._open.items()):
            if answer.done():
                continue
            if isinstance(event, OpRejected):
                if event.op_id == op_id:
                    answer.set_exception(OpFailed(event.reason))
            elif until(event):
                answer.set_result(event)

    def end(self) -> None:
        """No event comes any more."""
        self._ended = True
        for answer, _ in list(self._open.values()):
            if not answer.done():
                answer.set_exception(OpFailed(ENDED))
                answer.exception()  # whoever waited may be gone
