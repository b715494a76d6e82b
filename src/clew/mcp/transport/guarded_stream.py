"""What a server sends, on its way to the SDK: bounded where nobody asked for it, and its end is noticed."""

import asyncio
from types import TracebackType
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from clew.mcp.ports import Heard, Listing, OfferedTool
from clew.mcp.transport.messages import Inflow

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
        self.misshapen: list[OfferedTool] = []
        """Tools that were taken out of lists: one of them would make the SDK refuse all."""

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
        if isinstance(item, SessionMessage) and isinstance(item.message, types.JSONRPCResponse):
            self._look_at_tools(item.message.result)
        if isinstance(item, Exception) or not isinstance(
            item.message, types.JSONRPCNotification | types.JSONRPCRequest
        ):
            return True
        method = item.message.method
        if method in CHANGES:
            self._heard(CHANGES[method])
        return self.inflow.admits(method)

    def _look_at_tools(self, result: dict[str, Any]) -> None:
        listed = result.get("tools")
        if not isinstance(listed, list):
            return
        kept: list[dict[str, Any]] = []
        for tool in cast(list[Any], listed):
            given = cast(dict[str, Any], tool) if isinstance(tool, dict) else {}
            name, said = given.get("name"), given.get("inputSchema")
            schema = {"type": "object", **cast(dict[str, Any], said)} if isinstance(said, dict) else {}
            if isinstance(name, str) and schema.get("type") == "object":
                kept.append({**given, "inputSchema": schema})
            else:
                self.misshapen.append(OfferedTool(name=str(name)[:100], schema={"type": "no object"}))
        result["tools"] = kept

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
