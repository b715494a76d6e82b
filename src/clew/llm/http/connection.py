"""One HTTP/1.1 connection: asyncio streams, framed by h11, with TLS and a proxy where they are asked for."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import cache

import h11

from clew.llm.http.address import Address, Proxy

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
