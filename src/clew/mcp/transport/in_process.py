"""A server that lives in the program which drives this session: its messages go by way of that program."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

Json = dict[str, Any]
Deliver = Callable[[Json], None]
MAX_WAITING = 1_000
"""Messages of the program that nobody has read yet; more are dropped."""


@asynccontextmanager
async def in_process_streams(
    send: Callable[[Json], Awaitable[Json]], listening: Callable[[Deliver | None], None]
) -> AsyncGenerator[TransportStreams]:
    """`send` gives the program a message and waits for its answer, raising ValueError without one; `listening` is told
    where messages go that the program sends by itself."""
    inward, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](MAX_WAITING)
    write_stream, outward = anyio.create_memory_object_stream[SessionMessage](0)

    def deliver(document: Json) -> None:
        try:
            message = types.jsonrpc_message_adapter.validate_python(document, by_name=False)
            inward.send_nowait(SessionMessage(message))
        except (ValueError, anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # no message, or nobody who could take it

    async def pass_on(message: SessionMessage) -> None:
        document = message.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        try:
            answer = await send(document)
        except ValueError as error:
            answer = {"jsonrpc": "2.0", "error": {"code": types.INTERNAL_ERROR, "message": str(error)}}
        if isinstance(message.message, types.JSONRPCRequest):  # what is said to anything else is only that it arrived
            deliver({**answer, "jsonrpc": "2.0", "id": message.message.id})

    async def write() -> None:
        async with outward:
            async for message in outward:
                tasks.start_soon(pass_on, message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        listening(deliver)
        try:
            yield read_stream, write_stream
        finally:
            listening(None)
            tasks.cancel_scope.cancel()
            for stream in (inward, read_stream, write_stream, outward):
                stream.close()
