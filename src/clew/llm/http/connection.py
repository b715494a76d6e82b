"""One HTTP/1.1 connection: where a URL leads, by which proxy, and asyncio streams that h11 frames, with TLS."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from urllib.parse import unquote, urlsplit

import h11
from msgspec import Struct

LOOPBACK = ("127.", "localhost", "[::1]", "::1")


class BadAddress(ValueError):
    """Not a URL that requests can go to; the words say why."""


class Address(Struct, frozen=True, kw_only=True):
    """The origin of a URL."""

    host: str
    port: int
    secure: bool

    @property
    def netloc(self) -> str:
        """Host and port as the Host header writes them; a default port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


class Proxy(Struct, frozen=True, kw_only=True):
    """An HTTP proxy. `repr` must not tell its password."""

    host: str
    port: int
    authorization: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.host}:{self.port})"


def split_url(url: str) -> tuple[Address, str]:
    """The origin, and the path with its query."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadAddress(str(error)) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddress("it must start with http:// or https:// and name a host")
    if parts.username or parts.password:
        raise BadAddress("it must not hold a user or a password")
    secure = parts.scheme == "https"
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    if not target.isascii() or any(letter <= " " or letter == "\x7f" for letter in target):
        raise BadAddress("its path holds characters that must be escaped")
    host = parts.hostname.encode("idna").decode() if not parts.hostname.isascii() else parts.hostname
    return Address(host=host, port=port or (443 if secure else 80), secure=secure), target


def proxy_for(address: Address, env: Mapping[str, str]) -> Proxy | None:
    """The proxy of the usual variables, None when the host is exempt. Raises BadAddress for one we cannot use."""
    if address.host.startswith(LOOPBACK) or exempt(address.host, _value(env, "NO_PROXY")):
        return None
    url = _value(env, "HTTPS_PROXY" if address.secure else "HTTP_PROXY") or _value(env, "ALL_PROXY")
    if not url:
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise BadAddress(f"proxies of the kind {parts.scheme}:// are not supported; use an http:// proxy")
    authorization = ""
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return Proxy(host=parts.hostname, port=parts.port or 8080, authorization=authorization)


def is_loopback(url: str) -> bool:
    """Whether the URL names this machine."""
    return url.partition("://")[2].partition("/")[0].startswith(LOOPBACK)


def exempt(host: str, rule: str) -> bool:
    """Whether NO_PROXY names the host: `*`, a name, or a domain with everything below it."""
    for item in rule.split(","):
        name = item.strip().lower().lstrip(".").partition(":")[0]
        if name == "*" or (name and (host.lower() == name or host.lower().endswith(f".{name}"))):
            return True
    return False


def _value(env: Mapping[str, str], name: str) -> str:
    return (env.get(name.lower()) or env.get(name) or "").strip()


CONNECT_TIMEOUT_S = 15.0
WRITE_TIMEOUT_S = 60.0
READ_BYTES = 65_536
EYEBALLS_S = 0.25
"""A name's next address is tried after this, so that a dead IPv6 route does not hold up the start."""


class ProxyRefused(Exception):
    """The proxy did not let us through."""

    def __init__(self, status: int) -> None:
        super().__init__(f"proxy answered {status}")
        self.status = status


class NoAnswer(Exception):
    """The other side closed the connection before a byte of the answer came."""


class Silence(TimeoutError):
    """Nothing came for longer than we wait."""


class HttpConnection:
    """Used for one exchange at a time. After a whole answer it can be used again, if both sides agree."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        absolute: str = "",
        proxy: Proxy | None = None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._absolute = absolute
        """Put before the path where a proxy wants the whole address."""
        login = proxy.authorization if proxy else ""
        self._proxy_headers = [("proxy-authorization", login)] if login else []
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=256 * 1024)
        self.idle_since = 0.0

    @classmethod
    async def open(cls, address: Address, proxy: Proxy | None) -> "HttpConnection":
        """Connect, through the proxy if there is one. Raises OSError, TimeoutError, ssl.SSLError, ProxyRefused."""
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            if proxy is None:
                context = tls_context() if address.secure else None
                name = address.host if address.secure else None
                reader, writer = await asyncio.open_connection(
                    address.host, address.port, ssl=context, server_hostname=name, happy_eyeballs_delay=EYEBALLS_S
                )
                return cls(reader, writer)
            reader, writer = await asyncio.open_connection(proxy.host, proxy.port)
            if not address.secure:
                return cls(reader, writer, absolute=f"http://{address.netloc}", proxy=proxy)
            try:
                await tunnel(reader, writer, address, proxy)
                await writer.start_tls(tls_context(), server_hostname=address.host)
            except BaseException:
                writer.close()
                raise
            return cls(reader, writer)

    async def send(self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Write a whole request."""
        target = f"{self._absolute}{path}"
        length = ("content-length", str(len(body)))
        request = h11.Request(method=method, target=target, headers=[*headers, *self._proxy_headers, length])
        data = [self._http.send(request), self._http.send(h11.Data(data=body)), self._http.send(h11.EndOfMessage())]
        self._writer.write(b"".join(piece for piece in data if piece))
        async with asyncio.timeout(WRITE_TIMEOUT_S):
            await self._writer.drain()

    async def head(self, *, idle_s: float) -> h11.Response:
        """Status and headers of the answer. Raises NoAnswer when the connection was already dead."""
        got_bytes = False
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                data = await self._receive(idle_s)
                if not data and not got_bytes:
                    raise NoAnswer
                got_bytes = True
                self._http.receive_data(data)
            elif isinstance(event, h11.Response):
                return event
            elif not isinstance(event, h11.InformationalResponse):
                raise h11.RemoteProtocolError("no response")

    async def body(self, *, idle_s: Callable[[], float]) -> AsyncIterator[bytes]:
        """The body as it arrives; a byte ends the silence that `idle_s` allows at that time."""
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._receive(idle_s()))
            elif isinstance(event, h11.Data):
                yield bytes(event.data)
            else:
                return

    def reusable(self) -> bool:
        """Whether the exchange is complete and the other side keeps the connection open; makes it ready again."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        return self._http.our_state is h11.IDLE and not self._reader.at_eof() and not self._writer.is_closing()

    async def close(self) -> None:
        """Drop it at once: a polite end of TLS would wait for the other side, and an interrupt would feel slow."""
        self._writer.transport.abort()
        with suppress(OSError, ssl.SSLError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._writer.wait_closed()

    async def _receive(self, idle_s: float) -> bytes:
        try:
            async with asyncio.timeout(idle_s):
                return await self._reader.read(READ_BYTES)
        except TimeoutError as error:
            raise Silence from error


async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: Address, proxy: Proxy) -> None:
    """Ask the proxy for a way to the host."""
    lines = [f"CONNECT {address.netloc} HTTP/1.1", f"Host: {address.netloc}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    words = head.split(None, 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    if not 200 <= status < 300:
        raise ProxyRefused(status)


@cache
def tls_context() -> ssl.SSLContext:
    """The system's certificates (SSL_CERT_FILE and SSL_CERT_DIR are honoured), made once: loading them is slow."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
