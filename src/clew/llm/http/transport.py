"""HTTP to one configured host: connections kept alive, no redirects, errors that say which part failed."""

import asyncio
import errno
import os
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import h11

from clew import __version__
from clew.llm.errors import ConnectionFailed, StreamBroken
from clew.llm.failures import host_of
from clew.llm.http.connection import (
    CONNECT_TIMEOUT_S,
    BadAddress,
    HttpConnection,
    NoAnswer,
    ProxyRefused,
    Silence,
    proxy_for,
    split_url,
)
from clew.llm.models.target import Target
from clew.llm.wires.base import HttpRequest
from clew.llm.wires.registry import credential_for

KEEP_ALIVE_S = 120.0
DRAIN_S = 0.5
MAX_BODY_BYTES = 64 * 1024 * 1024
REFUSED = f"[Errno {errno.ECONNREFUSED}]"
"""How asyncio words it when a name has several addresses and all refuse."""


class HttpResponse:
    """A response whose body has not been read yet."""

    def __init__(self, connection: HttpConnection, head: h11.Response, idle_s: float) -> None:
        self.idle_s = idle_s
        """Silence that is too long from now on."""
        self._body = connection.body(idle_s=lambda: self.idle_s)
        self.status = head.status_code
        self.headers: dict[str, str] = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """Without parameters, lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        return self._body

    async def read(self, limit: int = MAX_BODY_BYTES) -> bytes:
        """The whole body, up to a bound."""
        body = bytearray()
        async for data in self._body:
            body += data
            if len(body) > limit:
                break
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Read what little may be left, so that the connection can be used again; give up soon."""
        try:
            async with asyncio.timeout(DRAIN_S):
                async for _ in self._body:
                    pass
        except (TimeoutError, OSError, h11.RemoteProtocolError):
            return


class Transport:
    """Sends requests of one target. The key goes to the configured base URL and nowhere else."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._credential = credential_for(target)
        self._idle: list[HttpConnection] = []
        self.reached = False
        """Whether the host has answered anything yet."""

    @asynccontextmanager
    async def open(self, request: HttpRequest, *, idle_s: float) -> AsyncGenerator[HttpResponse]:
        """Send and yield the answer; leaving early drops the connection. `idle_s`: silence that is too long."""
        if not request.url.startswith(self._target.base_url.rstrip("/")):
            raise ConnectionFailed(f"refused to send a key outside {host_of(self._target)}", retryable=False)
        connection, head = await self._exchange(request, idle_s)
        self.reached = True
        answer = HttpResponse(connection, head, idle_s)
        try:
            yield answer
        except (OSError, h11.RemoteProtocolError) as error:
            if isinstance(error, TimeoutError):
                words = f"{host_of(self._target)} sent nothing for {answer.idle_s:g} s, the reply is incomplete"
            else:
                words = f"the connection to {host_of(self._target)} broke before the reply was complete"
            raise StreamBroken(words, retryable=True) from error
        finally:
            await self._put_back(connection)

    async def _exchange(self, request: HttpRequest, idle_s: float) -> tuple[HttpConnection, h11.Response]:
        """Send on a kept connection or a new one. A kept one that turns out to be dead is replaced, once."""
        try:
            address, path = split_url(request.url)
            headers = [
                ("host", address.netloc),
                ("user-agent", f"clew/{__version__}"),
                ("accept-encoding", "identity"),
                *request.headers,
                *await self._authorisation(request),
            ]
            kept = self._take_kept()
            if kept is not None:
                try:
                    return kept, await self._ask(kept, request, path, headers, idle_s)
                except (NoAnswer, ConnectionError):
                    pass  # the server closed it while it lay idle; nothing was answered, so asking again is safe
            connection = await HttpConnection.open(address, proxy_for(address, os.environ))
            return connection, await self._ask(connection, request, path, headers, idle_s)
        except (OSError, ValueError, NoAnswer, ProxyRefused, h11.ProtocolError, asyncio.IncompleteReadError) as error:
            raise failure_to_reach(error, self._target, idle_s=idle_s) from error

    async def _authorisation(self, request: HttpRequest) -> list[tuple[str, str]]:
        if self._credential is None:
            return self._target.auth_headers()
        return await self._credential.headers(request)

    def renew_key(self) -> bool:
        """The key was refused. True: another one can be had."""
        return self._credential is not None and self._credential.renew()

    async def _ask(
        self, connection: HttpConnection, request: HttpRequest, path: str, headers: list[tuple[str, str]], idle_s: float
    ) -> h11.Response:
        try:
            await connection.send(request.method, path, headers, request.body)
            return await connection.head(idle_s=idle_s)
        except BaseException:
            await connection.close()
            raise

    def _take_kept(self) -> HttpConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable() and time.monotonic() - connection.idle_since < KEEP_ALIVE_S:
                return connection
        return None

    async def _put_back(self, connection: HttpConnection) -> None:
        if connection.reusable():
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            await connection.close()

    async def close(self) -> None:
        """Drop the connections."""
        while self._idle:
            await self._idle.pop().close()


def failure_to_reach(error: Exception, target: Target, *, idle_s: float) -> ConnectionFailed:
    """The error behind an exception of the connection, told apart by its cause."""
    host = host_of(target)
    if isinstance(error, ProxyRefused) and error.status == 407:
        words = "the proxy asks for a login (HTTP 407); put user and password into HTTPS_PROXY or HTTP_PROXY"
        return ConnectionFailed(words, status=407, retryable=False)
    if isinstance(error, ProxyRefused | asyncio.IncompleteReadError):
        return ConnectionFailed(f"the proxy failed on the way to {host}; check HTTPS_PROXY and HTTP_PROXY")
    if isinstance(error, ssl.SSLError):
        hint = "check the address and the clock; for a private certificate authority set SSL_CERT_FILE"
        return ConnectionFailed(f"no secure connection to {host}: {_ssl_words(error)}; {hint}", retryable=False)
    if isinstance(error, socket.gaierror):
        return ConnectionFailed(f"the name {host} cannot be resolved; check the network and the base URL")
    if isinstance(error, ConnectionRefusedError) or REFUSED in str(error):
        return ConnectionFailed(f"{host} refused the connection; is the server running there?")
    if isinstance(error, Silence):
        return ConnectionFailed(f"{host} did not answer for {idle_s:g} s")
    if isinstance(error, TimeoutError):
        return ConnectionFailed(f"no connection to {host} within {CONNECT_TIMEOUT_S:g} s; check the network")
    if isinstance(error, BadAddress):
        return ConnectionFailed(f"the base URL of {target.provider} is not usable: {error}", retryable=False)
    if isinstance(error, h11.LocalProtocolError):  # its words would quote the header, which may hold a secret
        words = f"a header for {host} is not valid; check the key and the `headers` of {target.provider}"
        return ConnectionFailed(words, retryable=False)
    if isinstance(error, NoAnswer | h11.RemoteProtocolError | ConnectionError):
        return ConnectionFailed(f"{host} closed the connection without an answer")
    return ConnectionFailed(f"no connection to {host}: {_first_line(error)}")


def _ssl_words(error: ssl.SSLError) -> str:
    message = getattr(error, "verify_message", "") or getattr(error, "reason", "") or "TLS failed"
    return str(message).lower().replace("_", " ")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
