"""Addresses and proxies: what the usual variables mean, and that a key crosses a proxy only inside TLS."""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from clew.llm.http.connection import Address, BadAddress, exempt, proxy_for, split_url, tls_context
from clew.llm.retry import RetryPolicy
from clew.protocol.messages import TextPart
from wires.support import KEY, ask, collect, failure, parts_in, remote

ONCE = RetryPolicy(max_attempts=1)
REPLY = b'{"id":"m","model":"x","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REPLY) + REPLY


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("https://a.example/v1/x?y=1", "a.example", "/v1/x?y=1"),
        ("http://a.example", "a.example", "/"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", "/v1"),
        ("https://[::1]:9/x", "[::1]:9", "/x"),
        ("https://b\u00fccher.example/x", "xn--bcher-kva.example", "/x"),
    ],
)
def test_urls_split(url: str, origin: str, path: str):
    address, found = split_url(url)
    assert (address.netloc, found) == (origin, path)


@pytest.mark.parametrize(
    "url",
    ["", "a.example", "ftp://a", "https://", "http://a:b", "https://u:pw@a.example", "http://a/\u00e9", "http://a/ b"],
)
def test_urls_that_cannot_be_used(url: str):
    with pytest.raises(BadAddress) as caught:
        split_url(url)
    assert "pw" not in str(caught.value)


def test_the_usual_variables_name_the_proxy():
    far = Address(host="api.example.org", port=443, secure=True)
    plain = Address(host="api.example.org", port=80, secure=False)
    env = {"HTTPS_PROXY": "http://us%40er:p%3Aw@proxy:3128", "http_proxy": "other", "NO_PROXY": "x.org, .inner.example"}
    found = proxy_for(far, env)
    assert found is not None
    assert (found.host, found.port) == ("proxy", 3128)
    assert base64.b64decode(found.authorization.removeprefix("Basic ")) == b"us@er:p:w"
    assert "p:w" not in repr(found)
    assert found.authorization not in repr(found)
    other = proxy_for(plain, env)
    assert other is not None
    assert (other.host, other.port) == ("other", 8080)
    assert proxy_for(far, {"ALL_PROXY": "http://all:1"}) is not None
    assert proxy_for(far, {}) is None
    assert proxy_for(Address(host="127.0.0.1", port=1, secure=False), {"http_proxy": "p"}) is None
    with pytest.raises(BadAddress, match="socks5"):
        proxy_for(far, {"HTTPS_PROXY": "socks5://p:1"})


@pytest.mark.parametrize(
    ("host", "rule", "expected"),
    [
        ("api.example.org", "example.org", True),
        ("api.example.org", ".example.org", True),
        ("example.org", "example.org:443", True),
        ("badexample.org", "example.org", False),
        ("api.example.org", "*", True),
        ("api.example.org", "", False),
        ("API.Example.org", "api.example.ORG", True),
    ],
)
def test_exempt_hosts(host: str, rule: str, expected: bool):
    assert exempt(host, rule) is expected


@contextlib.asynccontextmanager
async def proxy(context: ssl.SSLContext | None) -> AsyncGenerator[tuple[int, list[bytes], list[bytes]]]:
    """A proxy that is also the host behind it. Yields its port, what the proxy heard, and what the host heard."""
    to_proxy: list[bytes] = []
    to_host: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            to_proxy.append(head)
            if context is not None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await writer.start_tls(context)
                head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
            to_host.append(head + await reader.readexactly(int(length.partition(b":")[2])))
            writer.write(ANSWER)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], to_proxy, to_host


@pytest.fixture
def trusted(self_signed: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """A server context whose certificate the variables tell us to trust."""
    context, certificate = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_context.cache_clear()
    yield context
    tls_context.cache_clear()


async def test_a_key_crosses_a_proxy_only_inside_tls(trusted: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch):
    async with proxy(trusted) as (port, to_proxy, to_host):
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:word@127.0.0.1:{port}")
        model = remote("anthropic", "https://api.example.org", policy=ONCE)
        events = await collect(model, ask("hi"))
        await model.close()
    assert parts_in(events) == [TextPart(text="ok")]
    login = b"Proxy-Authorization: Basic " + base64.b64encode(b"user:word")
    assert to_proxy[0].startswith(b"CONNECT api.example.org")
    assert login in to_proxy[0]
    assert KEY.encode() not in to_proxy[0]
    assert KEY.encode() in to_host[0]
    assert b"user:word" not in to_host[0]
    assert b"roxy-" not in to_host[0]


async def test_another_name_on_the_certificate_is_refused(trusted: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch):
    async with proxy(trusted) as (port, _, to_host):
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        model = remote("anthropic", "https://other.example.org", policy=ONCE)
        error = await failure(model, ask("hi"))
        await model.close()
    assert "no secure connection" in str(error)
    assert to_host == []


async def test_a_plain_address_goes_through_a_proxy_with_its_login(monkeypatch: pytest.MonkeyPatch):
    async with proxy(None) as (port, to_proxy, _):
        monkeypatch.setenv("HTTP_PROXY", f"http://user:word@127.0.0.1:{port}")
        model = remote("anthropic", "http://api.example.org", policy=ONCE)
        events = await collect(model, ask("hi"))
        await model.close()
    assert parts_in(events) == [TextPart(text="ok")]
    assert to_proxy[0].startswith(b"POST http://api.example.org/v1/messages HTTP/1.1\r\n")
    assert b"proxy-authorization: Basic" in to_proxy[0]
