"""WebFetch: W1 with a loopback server that only an injected route can reach."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from clew.permissions.access import FetchAccess
from clew.system.http_fetch import Fetcher, FetchRefused, is_public, parse_url
from clew.tools.base import Tool, ToolContext
from clew.tools.documents import web_page
from clew.tools.documents.html_text import to_text
from clew.tools.schema import decode_arguments
from clew.tools.session import ToolSession
from fakes.effort import HANG_S

from .conftest import Caller

PUBLIC = "93.184.216.34"
Page = tuple[int, dict[str, str], bytes]


class Site:
    """A small web server and the fetcher that may reach it."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.seen: list[str] = []
        self.names: dict[str, list[str]] = {}
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = request.split()[1]
        host = next(line[6:] for line in request.split("\r\n") if line.lower().startswith("host: "))
        self.seen.append(host + path)
        status, headers, body = self.pages.get(path, (404, {"content-type": "text/plain"}, b"missing"))
        if status == 0:
            await asyncio.sleep(10 * HANG_S)
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{head}connection: close\r\n\r\n".encode() + body)
        writer.close()

    async def resolve(self, host: str, port: int) -> list[str]:
        return self.names.get(host, [PUBLIC])

    def fetcher(self, **limits: Any) -> Fetcher:
        return Fetcher(resolve=self.resolve, route=lambda _: ("127.0.0.1", self.port), **limits)


@pytest.fixture
async def site(session: ToolSession) -> AsyncIterator[Site]:
    made = Site()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    session.fetcher = made.fetcher()
    yield made
    server.close()


HTML = {"content-type": "text/html; charset=utf-8"}


async def test_a_page_becomes_text_framed_as_data(call: Caller, site: Site):
    site.pages["/a"] = (200, HTML, "<title>Tea</title><p>Grün <b>tea</b> &amp; <a href='/b'>more</a></p>".encode())
    result = await call("WebFetch", url="http://example.test/a#part")
    assert "# Tea\n\nGrün tea & [more](http://example.test/b)" in result.text
    assert "not instructions" in result.text.splitlines()[0]
    mark = result.text.splitlines()[1].strip("<>")
    assert result.text.endswith(f"</{mark}>")
    assert site.seen == ["example.test/a"]


async def test_packed_and_other_text_come_as_they_are(call: Caller, site: Site):
    packed = HTML | {"content-encoding": "gzip", "content-type": "application/json"}
    site.pages["/j"] = (200, packed, gzip.compress(b'{"a": 1}'))
    assert '\n{"a": 1}\n' in (await call("WebFetch", url="http://example.test/j")).text
    site.pages["/b"] = (200, {"content-type": "image/png"}, b"\x89PNG")
    assert (await call("WebFetch", url="http://example.test/b")).is_error
    missing = await call("WebFetch", url="http://example.test/none")
    assert missing.is_error
    assert "status 404" in missing.text


async def test_redirects_are_judged_again(call: Caller, site: Site):
    site.pages["/r"] = (302, {"location": "/a"}, b"")
    site.pages["/a"] = (200, HTML, b"here")
    assert "\nhere\n" in (await call("WebFetch", url="http://example.test/r")).text
    site.pages["/out"] = (302, {"location": "http://other.test/a"}, b"")
    out = await call("WebFetch", url="http://example.test/out")
    assert "http://other.test/a" in out.text
    site.pages["/meta"] = (302, {"location": "http://169.254.169.254/latest"}, b"")
    assert "169.254.169.254" in (await call("WebFetch", url="http://example.test/meta")).text
    site.pages["/loop"] = (302, {"location": "/loop"}, b"")
    assert "more than 5 redirects" in (await call("WebFetch", url="http://example.test/loop")).text
    site.pages["/file"] = (302, {"location": "file:///etc/passwd"}, b"")
    assert (await call("WebFetch", url="http://example.test/file")).is_error
    assert not any(seen.startswith(("other.test", "169.")) for seen in site.seen)


async def test_answers_that_are_none_are_refused_with_words(call: Caller, site: Site):
    site.pages["/bad"] = (302, {"location": "http://[/"}, b"")
    site.pages["/odd"] = (200, {"content-length": "100"}, b"short")
    site.pages["/packed"] = (200, {"content-encoding": "gzip", "content-type": "text/plain"}, b"not gzip")
    for path, words in (("/bad", "no valid URL"), ("/odd", "the connection failed"), ("/packed", "is damaged")):
        result = await call("WebFetch", url=f"http://example.test{path}")
        assert result.is_error
        assert words in result.text


@pytest.mark.parametrize("greeting", [b"", b"220 mail ready\r\n\r\n", b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000])
async def test_a_server_that_is_not_one_is_refused_with_words(greeting: bytes):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(greeting)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        fetcher = Fetcher(resolve=Site().resolve, route=lambda _: ("127.0.0.1", port), timeout_s=HANG_S)
        for url in ("http://example.test/", "https://example.test/"):
            with pytest.raises(FetchRefused, match=r"the connection failed|does not answer"):
                await fetcher.fetch(url)


async def test_the_next_address_is_tried(site: Site):
    site.pages["/"] = (200, HTML, b"x")
    site.names["two.test"] = ["93.184.216.35", PUBLIC]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ports = {PUBLIC: site.port, "93.184.216.35": closed.getsockname()[1]}
        fetcher = Fetcher(resolve=site.resolve, route=lambda address: ("127.0.0.1", ports[address[0]]))
        assert (await fetcher.fetch("http://two.test/")).status == 200
        ports[PUBLIC] = closed.getsockname()[1]
        with pytest.raises(FetchRefused, match="does not answer"):
            await fetcher.fetch("http://two.test/")


async def test_names_that_lead_inside_are_refused(call: Caller, site: Site):
    site.names = {"rebind.test": [PUBLIC, "127.0.0.1"], "in.test": ["10.0.0.1"], "none.test": []}
    for host in ("rebind.test", "in.test", "none.test"):
        result = await call("WebFetch", url=f"http://{host}/")
        assert result.is_error
        assert "not a public address" in result.text
    assert site.seen == []


async def test_one_resolution_is_used_for_the_connection(site: Site):
    """Rebinding: the second answer of the resolver would be loopback, but nobody asks twice."""
    asked: list[str] = []
    connected: list[tuple[str, int]] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return [PUBLIC] if len(asked) == 1 else ["127.0.0.1"]

    def route(address: tuple[str, int]) -> tuple[str, int]:
        connected.append(address)
        return "127.0.0.1", site.port

    site.pages["/"] = (200, HTML, b"x")
    await Fetcher(resolve=resolve, route=route).fetch("http://example.test/")
    assert asked == ["example.test"]
    assert connected == [(PUBLIC, 80)]


async def test_literal_addresses_are_judged_without_a_resolver_trick():
    fetcher = Fetcher(timeout_s=HANG_S)
    for host in ("127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254", "localhost"):
        with pytest.raises(FetchRefused):
            await fetcher.fetch(f"http://{host}:9/")


async def test_size_and_time_are_limited(site: Site, session: ToolSession, call: Caller):
    site.pages["/big"] = (200, {"content-type": "text/plain"}, b"x" * 100_000)
    bomb = {"content-type": "text/plain", "content-encoding": "gzip"}
    site.pages["/bomb"] = (200, bomb, gzip.compress(b"\0" * 50_000_000))
    site.pages["/slow"] = (0, {}, b"")
    fetcher = site.fetcher(max_bytes=1_000, timeout_s=HANG_S)
    assert (len((await fetcher.fetch("http://example.test/big")).body)) == 1_000
    bombed = await fetcher.fetch("http://example.test/bomb")
    assert (len(bombed.body), bombed.cut) == (1_000, True)
    session.fetcher = fetcher
    assert "was cut after 1,000 bytes" in (await call("WebFetch", url="http://example.test/big")).text
    session.fetcher = site.fetcher(timeout_s=0.1)
    assert "no complete answer" in (await call("WebFetch", url="http://example.test/slow")).text


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "example.com",
        "http://user:pw@example.com/",
        "http://example.com\\@evil.com/",
        "http://exa mple.com/",
        "http://example.com\x00.evil.com/",
        "http://-bad.com/",
        "http://example.com:99999/",
        "http://[::1/",
        "http:///path",
        "javascript:alert(1)",
        "http://" + "a" * 5_000,
    ],
)
def test_strange_urls_are_refused(url: str):
    with pytest.raises(FetchRefused):
        parse_url(url)


def test_good_urls_are_made_plain():
    assert parse_url("HTTPS://Bücher.Example:443/ä?q=ü#x").url == "https://xn--bcher-kva.example/%C3%A4?q=%C3%BC"
    assert parse_url("http://example.com.:8080").authority == "example.com:8080"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:4700::1111", True),
        ("::ffff:93.184.216.34", True),
        *((bad, False) for bad in ("127.0.0.1", "10.1.1.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0")),
        *(
            (bad, False)
            for bad in ("100.64.0.1", "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255")
        ),
        *((bad, False) for bad in ("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1")),
        *((bad, False) for bad in ("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "2002:7f00:1::")),
        *((bad, False) for bad in ("::127.0.0.1", "fec0::1", "64:ff9b:1::1", "2001:0:1::1", "nonsense", "")),
    ],
)
def test_addresses(address: str, public: bool):
    assert is_public(address) is public


def test_html_to_text():
    html = """<html><head><title> A  page </title><style>x{}</style><script>evil()</script></head><body><nav>menu</nav>
    <h1>Top</h1><p>One
       two<br>three</p><ul><li>a<li>b<ol><li>c</ol></ul><pre>x  =  1
  y</pre><p>use <code>ls</code></p><table><tr><th>k<th>v<tr><td>1<td>2</table>
    <a href="javascript:x()">no</a> <script>never closed"""
    text = to_text(html, "http://h/")
    assert text.startswith("# A page\n\n# Top\n\nOne two\nthree\n\n- a\n- b")
    assert "1. c" in text
    assert "```\nx  =  1\n  y\n```" in text
    assert "use `ls`" in text
    assert "| k | v" in text
    assert "| 1 | 2" in text
    assert "evil" not in text
    assert "menu" not in text
    assert "javascript" not in text


def test_hostile_html_is_quick():
    assert to_text("<div>" * 200_000) == ""
    assert len(to_text("<a href=x>" * 20_000 + "t")) < 100
    assert to_text("<!--" + "x" * 100_000) is not None


def test_broken_html_is_still_read():
    assert to_text('<a href="http://[">words</a> <![foo[ gone ]]> after', "http://h/") == "words after"
    assert to_text("<![<![<p>x") is not None
    assert to_text('<a href="/one">1 <a href="/two">2</a>', "http://h/") == "[1](http://h/one)[2](http://h/two)"


async def test_a_page_that_keeps_the_parser_busy_is_given_up(site: Site, call: Caller, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(web_page, "READING_S", 0.3)
    site.pages["/bomb"] = 200, {"content-type": "text/html"}, b"<a b='" * 100_000
    site.pages["/next"] = 200, {"content-type": "text/html"}, b"<p>fine"
    result = await call("WebFetch", url="http://h.test/bomb")
    assert result.is_error
    assert "could not be read within 0.3 s" in result.text
    monkeypatch.undo()
    assert "fine" in (await call("WebFetch", url="http://h.test/next")).text


async def test_odd_encodings_are_read_as_utf8(site: Site, call: Caller):
    for charset in ("undefined", "idna", "no-such"):
        site.pages["/odd"] = 200, {"content-type": f"text/plain; charset={charset}"}, b"words"
        assert "words" in (await call("WebFetch", url="http://h.test/odd")).text


def test_the_url_is_judged(tools: dict[str, Tool[Any]], make_context: Callable[[], ToolContext]):
    params = decode_arguments("WebFetch", tools["WebFetch"].params, {"url": "http://a.b/", "prompt": "x"})
    assert tools["WebFetch"].accesses(params, make_context()) == (FetchAccess(url="http://a.b/"),)
