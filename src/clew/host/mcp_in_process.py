"""Servers of the program that drives a session: every message is an event with an id, and an op with it answers."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from clew.host.refusal import OpRefused
from clew.host.room import Effect
from clew.host.session import Session
from clew.protocol.ids import RequestId, new_uuid
from clew.protocol.mcp_events import McpMessageSent, McpMessageWithdrawn
from clew.protocol.ops import AnswerMcpMessage, DeliverMcpMessage, Op

if TYPE_CHECKING:
    from clew.mcp.definitions import Definition

Json = dict[str, Any]


class InProcessServers:
    """One per session that a program drives. Ids are random and single-use."""

    ops = (AnswerMcpMessage, DeliverMcpMessage)

    def __init__(self) -> None:
        self._session: Session | None = None
        self._open: dict[RequestId, asyncio.Future[Json]] = {}
        self._listening: dict[str, Callable[[Json], None]] = {}

    def attach(self, session: Session) -> None:
        """Belong to a session."""
        self._session = session

    def transport(self, server: "Definition") -> AbstractAsyncContextManager[Any]:
        """For `Surroundings.in_process`."""
        from clew.mcp.in_process import in_process_streams  # a server is being connected, so the SDK is there

        def listening(deliver: Callable[[Json], None] | None) -> None:
            if deliver is None:
                self._listening.pop(server.name, None)
            else:
                self._listening[server.name] = deliver

        return in_process_streams(lambda message: self._send(server.name, message), listening)

    async def understood(self, op: Op) -> Effect:
        """What one of its ops means. Raises OpRefused."""
        match op:
            case AnswerMcpMessage():
                waiting = self._open.pop(op.request_id, None)
                if waiting is None or waiting.done():
                    raise OpRefused("nothing waits for this answer any more")
                if op.error:
                    waiting.set_exception(ValueError(op.error))
                else:
                    waiting.set_result(op.message)
            case DeliverMcpMessage():
                deliver = self._listening.get(op.server)
                if deliver is None:
                    raise OpRefused(f"there is no server {op.server!r} of this program that is connected")
                deliver(op.message)
            case _:
                raise OpRefused("this is not about servers of the program")
        return _nothing

    async def _send(self, server: str, message: Json) -> Json:
        """Give the program a message. Raises ValueError where it does not answer."""
        assert self._session is not None
        request_id = RequestId(new_uuid())
        waiting = self._open[request_id] = asyncio.get_running_loop().create_future()
        try:
            self._session.publish(McpMessageSent(request_id=request_id, server=server, message=message))
            return await waiting
        finally:
            if self._open.pop(request_id, None) is not None:
                self._session.publish(McpMessageWithdrawn(request_id=request_id))


def _nothing() -> None:
    """The op was done by being understood."""
