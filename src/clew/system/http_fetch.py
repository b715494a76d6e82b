"""Fetching a page (W1): http and https only, public addresses only, one resolution used for the connection."""

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urljoin, urlsplit

import httpcore2

from clew.system.addresses import is_public

MAX_BYTES = 5_000_000
TIMEOUT_S = 30.0
MAX_REDIRECTS = 5
MAX_URL_CHARS = 4_000
HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?")
REDIRECTS = (301, 302, 303, 307, 308)
KEPT = "/%:@!$&'()*+,;=~?-._"
PORTS = {"http": 80, "https": 443}

Resolve = Callable[[str, int], Awaitable[list[str]]]
Address = tuple[str, int]


class FetchRefused(Exception):
    """The URL may not or cannot be fetched; the message says why."""


class Target(NamedTuple):
    """A checked URL."""

    url: str
    """ASCII, without a fragment."""
    scheme: str
    host: str
    """Lower case, ASCII; an address without brackets."""
    authority: str
    """Host and port as the Host header says them."""


class Fetched(NamedTuple):
    """A response, or where it wants to send us."""

    url: str
    status: int
    content_type: str
    body: bytes
    cut: bool
    moved_to: str = ""
    """Another host, which needs its own permission."""


def parse_url(url: str) -> Target:
    """One strict parser for everything that looks at a URL."""
    if len(url) > MAX_URL_CHARS or any(ord(char) <= 32 or ord(char) == 127 or char == "\\" for char in url):
        raise FetchRefused("the URL is too long or holds blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise FetchRefused(f"not a valid URL: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise FetchRefused(f"only http and https are fetched, not {scheme or 'a bare name'}")
    if "@" in parts.netloc:
        raise FetchRefused("a URL with a user name or password is not fetched")
    host = (parts.hostname or "").lower()
    if ":" not in host:
        try:
            host = host.encode("idna").decode("ascii") if not host.isascii() else host
        except UnicodeError:
            raise FetchRefused("the host name is not valid") from None
        if len(host) > 253 or not HOST.fullmatch(host):
            raise FetchRefused("the host name is not valid")
    host = host.rstrip(".")
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != PORTS[scheme]:
        authority += f":{port}"
    query = "?" + quote(parts.query, safe=KEPT) if parts.query else ""
    clean = f"{scheme}://{authority}{quote(parts.path, safe=KEPT) or '/'}{query}"
    return Target(clean, scheme, host, authority)


async def system_resolve(host: str, port: int) -> list[str]:
    """Ask the system's resolver."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise FetchRefused(f"the host {host} could not be resolved: {error}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to an address that was judged, never to a name. TLS still checks the certificate for the name."""

    def __init__(self, resolve: Resolve, route: Callable[[Address], Address]) -> None:
        self._resolve = resolve
        self._route = route
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        name = host.strip("[]")
        addresses = await self._resolve(name, port)
        bad = [address for address in addresses if not is_public(address)]
        if bad or not addresses:
            raise FetchRefused(f"{name} leads to {bad[0] if bad else 'nothing'}, which is not a public address")
        failure: Exception | None = None
        for address in addresses[:4]:
            routed, routed_port = self._route((address, port))
            try:
                return await self._inner.connect_tcp(routed, routed_port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise FetchRefused(f"{name} does not answer: {failure}") from failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        raise FetchRefused("local sockets are not fetched")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Fetcher:
    """Fetches pages. `route` exists for tests: it decides where a connection to a public address really goes."""

    def __init__(
        self,
        *,
        resolve: Resolve = system_resolve,
        route: Callable[[Address], Address] = lambda address: address,
        max_bytes: int = MAX_BYTES,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._backend = PinnedBackend(resolve, route)
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def fetch(self, url: str) -> Fetched:
        """Follows redirects within the host; another host is reported, not visited."""
        first = target = parse_url(url)
        try:
            async with asyncio.timeout(self._timeout_s):
                for _ in range(MAX_REDIRECTS + 1):
                    fetched, location = await self._once(target)
                    if not location:
                        return fetched
                    target = parse_url(urljoin(target.url, location))
                    if target.host != first.host or (first.scheme, target.scheme) == ("https", "http"):
                        return fetched._replace(moved_to=target.url)
        except TimeoutError:
            raise FetchRefused(f"no complete answer within {self._timeout_s:g} s") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, ssl.SSLError) as error:
            raise FetchRefused(f"the connection failed: {error or type(error).__name__}") from error
        raise FetchRefused(f"more than {MAX_REDIRECTS} redirects")

    async def _once(self, target: Target) -> tuple[Fetched, str]:
        headers = [
            (b"host", target.authority.encode("ascii")),
            (b"user-agent", b"clew"),
            (b"accept", b"text/html, text/plain, application/json, text/*;q=0.9"),
            (b"accept-encoding", b"gzip"),
            (b"connection", b"close"),
        ]
        async with httpcore2.AsyncConnectionPool(network_backend=self._backend, retries=0) as pool:
            async with pool.stream("GET", target.url, headers=headers) as response:
                fields = {name.lower(): value for name, value in response.headers}
                location = fields.get(b"location", b"").decode("latin-1") if response.status in REDIRECTS else ""
                body, cut = (b"", False) if location else await self._read(response, fields)
        kind = fields.get(b"content-type", b"").decode("latin-1")
        return Fetched(target.url, response.status, kind, body, cut), location

    async def _read(self, response: httpcore2.Response, fields: dict[bytes, bytes]) -> tuple[bytes, bool]:
        """The body up to the limit, unpacked; a packed bomb stops at the same limit."""
        inflate = zlib.decompressobj(31) if fields.get(b"content-encoding", b"").lower() == b"gzip" else None
        body = bytearray()
        async for chunk in response.aiter_stream():
            room = self._max_bytes - len(body)
            try:
                body += inflate.decompress(chunk, room + 1) if inflate is not None else chunk[: room + 1]
            except zlib.error as error:
                raise FetchRefused(f"the answer is damaged: {error}") from None
            if len(body) > self._max_bytes:
                return bytes(body[: self._max_bytes]), True
        return bytes(body), False
