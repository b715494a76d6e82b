"""HTTP to one configured host: one client kept alive, no redirects, errors that say which part failed."""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import cast

import httpx2

from clew import __version__
from clew.llm.errors import ConnectionFailed, StreamBroken
from clew.llm.failures import host_of
from clew.llm.target import Target
from clew.llm.wires.base import HttpRequest

CONNECT_TIMEOUT_S = 15.0
WRITE_TIMEOUT_S = 60.0
KEEP_ALIVE_S = 120.0
DRAIN_S = 0.5
MAX_BODY_BYTES = 64 * 1024 * 1024
LOOPBACK = ("127.", "localhost", "[::1]", "::1")


class Answer:
    """A response whose body has not been read yet."""

    def __init__(self, response: httpx2.Response) -> None:
        self._body = response.aiter_bytes()
        self.status = response.status_code
        self.headers: dict[str, str] = {name.lower(): value for name, value in response.headers.items()}

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
        except (TimeoutError, httpx2.HTTPError):
            return


class Transport:
    """Sends requests of one target. The key goes to the configured base URL and nowhere else."""

    def __init__(self, target: Target, *, idle_timeout_s: float) -> None:
        self._target = target
        self._idle_timeout_s = idle_timeout_s
        self._client: httpx2.AsyncClient | None = None
        self.reached = False
        """Whether the host has answered anything yet."""

    @asynccontextmanager
    async def open(self, request: HttpRequest, *, patience_s: float | None = None) -> AsyncGenerator[Answer]:
        """Send and yield the answer; leaving early drops the connection. `patience_s`: silence that is too long."""
        if not request.url.startswith(self._target.base_url.rstrip("/")):
            raise ConnectionFailed(f"refused to send a key outside {host_of(self._target)}", retryable=False)
        idle_s = self._idle_timeout_s if patience_s is None else patience_s
        response = await self._send(request, idle_s)
        self.reached = True
        try:
            yield Answer(response)
        except (httpx2.HTTPError, OSError) as error:
            if isinstance(error, httpx2.ReadTimeout):
                words = f"{host_of(self._target)} sent nothing for {idle_s:g} s, the reply is incomplete"
            else:
                words = f"the connection to {host_of(self._target)} broke before the reply was complete"
            raise StreamBroken(words, retryable=True) from error
        finally:
            await response.aclose()

    async def _send(self, request: HttpRequest, idle_s: float) -> httpx2.Response:
        try:
            client = self._ensure_client()
            built = client.build_request(
                request.method,
                request.url,
                content=request.body,
                headers=[*request.headers, *self._target.auth_headers()],
                timeout=httpx2.Timeout(idle_s, connect=CONNECT_TIMEOUT_S, write=WRITE_TIMEOUT_S),
            )
            return await client.send(built, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise failure_to_reach(error, self._target, idle_s=idle_s) from error

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _ensure_client(self) -> httpx2.AsyncClient:
        if self._client is None:
            base_url = self._target.base_url
            loopback = host_of(self._target).startswith(LOOPBACK)
            plain = base_url.startswith("http://") and loopback
            self._client = httpx2.AsyncClient(
                # Loading the system's certificates costs more than everything else here; without TLS there is no use.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
                trust_env=not loopback,
                follow_redirects=False,
                headers={"user-agent": f"clew/{__version__}", "accept-encoding": "identity"},
                limits=httpx2.Limits(max_connections=20, keepalive_expiry=KEEP_ALIVE_S),
            )
        return self._client


def failure_to_reach(error: Exception, target: Target, *, idle_s: float) -> ConnectionFailed:
    """The error behind an exception of the HTTP client, told apart by its cause."""
    host = host_of(target)
    causes = list(_causes(error))
    if any("407" in str(cause) for cause in causes if isinstance(cause, httpx2.ProxyError)):
        words = "the proxy asks for a login (HTTP 407); put user and password into HTTPS_PROXY or HTTP_PROXY"
        return ConnectionFailed(words, status=407, retryable=False)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        reason = next(_ssl_words(cause) for cause in causes if isinstance(cause, ssl.SSLError))
        hint = "check the address and the clock; for a private certificate authority set SSL_CERT_FILE"
        return ConnectionFailed(f"no secure connection to {host}: {reason}; {hint}", retryable=False)
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ConnectionFailed(f"the name {host} cannot be resolved; check the network and the base URL")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ConnectionFailed(f"{host} refused the connection; is the server running there?")
    if isinstance(error, httpx2.ProxyError):
        return ConnectionFailed(f"the proxy failed on the way to {host}; check HTTPS_PROXY and HTTP_PROXY")
    if isinstance(error, httpx2.ConnectTimeout):
        return ConnectionFailed(f"no connection to {host} within {CONNECT_TIMEOUT_S:g} s; check the network")
    if isinstance(error, httpx2.TimeoutException):
        return ConnectionFailed(f"{host} did not answer for {idle_s:g} s")
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | ValueError):
        return ConnectionFailed(
            f"{target.base_url!r} is not a usable base URL; it starts with https://", retryable=False
        )
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError):
        return ConnectionFailed(f"{host} closed the connection without an answer")
    return ConnectionFailed(f"no connection to {host}: {_first_line(error)}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and everything that led to it, also inside groups."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        todo += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            todo += cast(BaseExceptionGroup[BaseException], one).exceptions


def _ssl_words(error: ssl.SSLError) -> str:
    message = getattr(error, "verify_message", "") or getattr(error, "reason", "") or "TLS failed"
    return str(message).lower().replace("_", " ")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
