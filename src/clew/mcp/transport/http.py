"""A server at an address: streamable HTTP or the older SSE, by the SDK, with bounds on what one answer may hold."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from clew.mcp.definitions import ServerDefinition
from clew.mcp.ports import Surroundings
from clew.mcp.transport.messages import MAX_MESSAGE_BYTES
from clew.system.tls import tls_context

CONNECT_S = 15.0
SILENCE_S = 300.0
"""A stream that is silent for so long is opened again by the SDK."""


class AnswerNotes:
    """What the last answers said beside their content."""

    def __init__(self) -> None:
        self.status = 0


class BoundedBody(httpx2.AsyncByteStream):
    """A body that is cut off where it would be too long. Streams of events that were asked for have bounds for each
    event."""

    def __init__(self, body: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._body = body
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._max_bytes
        async for piece in self._body:
            left -= len(piece)
            if left < 0:
                raise httpx2.StreamError(f"the answer is longer than {self._max_bytes // 1_000_000} MB")
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()


def http_client(headers: dict[str, str], auth: httpx2.Auth | None, seen: AnswerNotes) -> httpx2.AsyncClient:
    """A client for one server: proxies as the environment names them, TLS as the rest of clew."""

    async def look(response: httpx2.Response) -> None:
        seen.status = response.status_code
        wanted = "text/event-stream" in response.request.headers.get("accept", "") and response.is_success
        streams = wanted and response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if not streams and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = BoundedBody(response.stream, MAX_MESSAGE_BYTES)

    return httpx2.AsyncClient(
        headers=headers,
        auth=auth,
        timeout=httpx2.Timeout(CONNECT_S, read=SILENCE_S),
        verify=tls_context(),
        follow_redirects=False,
        event_hooks={"response": [look]},
    )


@asynccontextmanager
async def http_streams(
    server: ServerDefinition, around: Surroundings, seen: AnswerNotes
) -> AsyncGenerator[TransportStreams]:
    """Talk to an address. What it is sent beside messages are the headers of its definition."""
    auth = around.sign_in(server) if around.sign_in is not None else None
    headers = dict(server.headers)
    if server.kind == "sse":

        def made(headers: dict[str, str] | None = None, timeout: Any = None, auth: httpx2.Auth | None = None) -> Any:
            return http_client(headers or {}, auth, seen)

        async with sse_client(server.url, headers, httpx_client_factory=made, auth=auth) as streams:
            yield streams
        return
    async with http_client(headers, auth, seen) as client:
        async with streamable_http_client(
            server.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams:
            yield streams
