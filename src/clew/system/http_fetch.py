"""Fetching a page (W1): http and https only, public addresses only, one resolution used for the connection.

Which network addresses a fetch may reach: public ones, judged after resolution.
"""

import asyncio
import ipaddress
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import NamedTuple
from urllib.parse import urljoin

import h11

from clew.system.tls import tls_context
from clew.text.urls import CheckedUrl, FetchRefused, parse_url

EMBEDDING = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
    (ipaddress.IPv6Network("::/96"), 0),
)
"""IPv6 ranges that carry an IPv4 address, and how many bits follow it."""
NEVER = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "64:ff9b:1::/48", "2001::/32", "fec0::/10", "192.88.99.0/24", "100::/64")
)


def is_public(text: str) -> bool:
    """False for loopback, link-local, private, shared, metadata, multicast and reserved ones, however disguised."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(str(address.ipv4_mapped))
        for network, shift in EMBEDDING:
            if address in network:
                return is_public(str(ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)))
    if any(address.version == network.version and address in network for network in NEVER):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


MAX_BYTES = 5_000_000
TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 8.0
READ_BYTES = 65_536
MAX_HEAD_BYTES = 128 * 1024
MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)

Resolve = Callable[[str, int], Awaitable[list[str]]]
Address = tuple[str, int]


class Fetched(NamedTuple):
    """A response, or where it wants to send us."""

    url: str
    status: int
    content_type: str
    body: bytes
    cut: bool
    moved_to: str = ""
    """Another host, which needs its own permission."""


async def system_resolve(host: str, port: int) -> list[str]:
    """Ask the system's resolver."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise FetchRefused(f"the host {host} could not be resolved: {error}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def events_of(http: h11.Connection, reader: asyncio.StreamReader) -> AsyncGenerator[h11.Event]:
    """What the server says, until its message ends."""
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await reader.read(READ_BYTES))
        elif isinstance(event, h11.Response | h11.InformationalResponse | h11.Data):
            yield event
        else:
            return


async def response_in(events: AsyncIterator[h11.Event]) -> h11.Response:
    """The head of the answer; what comes before it only says that it will come."""
    async for event in events:
        if isinstance(event, h11.Response):
            return event
    raise h11.RemoteProtocolError("the server sent no answer")


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
        self._resolve = resolve
        self._route = route
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
                    target = parse_url(joined(target.url, location))
                    if target.host != first.host or (first.scheme, target.scheme) == ("https", "http"):
                        return fetched._replace(moved_to=target.url)
        except TimeoutError:
            raise FetchRefused(f"no complete answer within {self._timeout_s:g} s") from None
        except (OSError, h11.RemoteProtocolError) as error:
            raise FetchRefused(f"the connection failed: {error or type(error).__name__}") from error
        raise FetchRefused(f"more than {MAX_REDIRECTS} redirects")

    async def _once(self, target: CheckedUrl) -> tuple[Fetched, str]:
        reader, writer = await self._connect(target)
        try:
            http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
            headers = [
                ("host", target.authority),
                ("user-agent", "clew"),
                ("accept", "text/html, text/plain, application/json, text/*;q=0.9"),
                ("accept-encoding", "gzip"),
                ("connection", "close"),
            ]
            request = http.send(h11.Request(method="GET", target=target.path, headers=headers)) or b""
            writer.write(request + (http.send(h11.EndOfMessage()) or b""))
            await writer.drain()
            async with aclosing(events_of(http, reader)) as events:
                return await self._answer(target, events)
        finally:
            writer.transport.abort()  # a polite end of TLS would wait for the other side

    async def _connect(self, target: CheckedUrl) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To an address that was judged, never to a name. TLS still checks the certificate for the name."""
        addresses = await self._resolve(target.host, target.port)
        bad = [address for address in addresses if not is_public(address)]
        if bad or not addresses:
            raise FetchRefused(f"{target.host} leads to {bad[0] if bad else 'nothing'}, which is not a public address")
        context = tls_context() if target.scheme == "https" else None
        name = target.host if context else None
        failure: OSError | None = None
        for address in addresses[:4]:
            host, port = self._route((address, target.port))
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    return await asyncio.open_connection(host, port, ssl=context, server_hostname=name)
            except ssl.SSLError:
                raise  # another address has the same certificate
            except OSError as error:
                failure = error
        raise FetchRefused(f"{target.host} does not answer: {failure or 'no connection in time'}") from failure

    async def _answer(self, target: CheckedUrl, events: AsyncIterator[h11.Event]) -> tuple[Fetched, str]:
        head = await response_in(events)
        fields = dict(head.headers)
        location = fields.get(b"location", b"").decode("latin-1") if head.status_code in REDIRECTS else ""
        body, cut = (b"", False) if location else await self._read(events, fields)
        kind = fields.get(b"content-type", b"").decode("latin-1")
        return Fetched(target.url, head.status_code, kind, body, cut), location

    async def _read(self, events: AsyncIterator[h11.Event], fields: dict[bytes, bytes]) -> tuple[bytes, bool]:
        """The body up to the limit, unpacked; a packed bomb stops at the same limit."""
        inflate = zlib.decompressobj(31) if fields.get(b"content-encoding", b"").lower() == b"gzip" else None
        body = bytearray()
        async for event in events:
            if not isinstance(event, h11.Data):
                continue
            room = self._max_bytes - len(body)
            data = bytes(event.data)
            try:
                body += inflate.decompress(data, room + 1) if inflate is not None else data[: room + 1]
            except zlib.error as error:
                raise FetchRefused(f"the answer is damaged: {error}") from None
            if len(body) > self._max_bytes:
                return bytes(body[: self._max_bytes]), True
        return bytes(body), False


def joined(base: str, location: str) -> str:
    """Where a redirect leads."""
    try:
        return urljoin(base, location)
    except ValueError as error:
        raise FetchRefused(f"it redirects to no valid URL: {error}") from None
