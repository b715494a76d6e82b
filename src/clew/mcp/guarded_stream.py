"""What a server sends, on its way to the SDK: bounded where nobody asked for it, and its end is noticed."""

import asyncio
from types import TracebackType
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from clew.mcp.messages import Inflow
from clew.mcp.ports import Heard, Listing

CHANGES: dict[str, Listing] = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}


class GuardedStream:
    """Around the stream of a transport."""

    def __init__(self, inner: Any, heard: Heard, closed: asyncio.Event) -> None:
        self._inner = inner
        self._heard = heard
        self._closed = closed
        self.inflow = Inflow(asyncio.get_running_loop().time)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._closed.set()
                raise
            if self._admits(item):
                return item
            await asyncio.sleep(0)

    def _admits(self, item: SessionMessage | Exception) -> bool:
        if isinstance(item, Exception) or not isinstance(
            item.message, types.JSONRPCNotification | types.JSONRPCRequest
        ):
            return True
        method = item.message.method
        if method in CHANGES:
            self._heard(CHANGES[method])
        return self.inflow.admits(method)

    def __aiter__(self) -> "GuardedStream":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "GuardedStream":
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()
