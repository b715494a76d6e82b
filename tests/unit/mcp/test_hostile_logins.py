"""Servers, authorization servers and web pages that mean harm: what a login refuses, and that nothing else suffers."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from clew.mcp.definitions import ServerDefinition
from clew.mcp.login.logins import LoginFailed, LoginStore, UnkeepableLogin
from clew.mcp.login.loopback import Loopback
from clew.mcp.login.oauth import is_safe_endpoint
from clew.mcp.login.oauth_login import log_in
from clew.mcp.ports import Surroundings
from clew.mcp.transport.http import AnswerNotes, http_client


class Hostile(ThreadingHTTPServer):
    """Answers what the test says, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.metadata: dict[str, Any] = {}
        self.tokens: dict[str, Any] = {"access_token": "given-to-nobody", "token_type": "Bearer"}
        self.resource_metadata = f"{self.base}/.well-known/oauth-protected-resource"
        self.endless = b""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str) -> tuple[int, Any]:
        match path.partition("?")[0]:
            case "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/mcp":
                return 200, {"resource": f"{self.base}/mcp", "authorization_servers": [self.base]}
            case "/.well-known/oauth-authorization-server":
                own = {name: f"{self.base}/{name}" for name in ("authorization_endpoint", "token_endpoint")}
                return 200, {"issuer": self.base, **own, "registration_endpoint": f"{self.base}/reg", **self.metadata}
            case "/reg":
                return 201, {"client_id": "c", "redirect_uris": ["http://127.0.0.1/callback"]}
            case "/token_endpoint":
                return 200, self.tokens
            case _:
                return 401, {"error": "who are you"}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Hostile)
        self.server.asked.append(self.path)
        self.rfile.read(int(self.headers.get("content-length") or 0))
        status, document = self.server.answer(self.path)
        body = json.dumps(document).encode()
        self.send_response(status)
        if status == 401:
            self.send_header("www-authenticate", f'Bearer resource_metadata="{self.server.resource_metadata}"')
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    with Hostile() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def definition(url: str, name: str = "people") -> ServerDefinition:
    return ServerDefinition(name=name, scope="user", kind="http", source="mcp.json", url=url)


async def signed_in(server: Hostile, home: Path) -> str:
    """How a login ends that a person walks through; `in`: with tokens."""
    around = Surroundings(root=home, env={}, child_env={}, roots=lambda: ())

    async def show(url: str, back: Loopback) -> bool:
        state = httpx2.URL(url).params.get_list("state")[-1]
        assert back.offer(f"/callback?code=x&state={state}")
        return True

    try:
        await log_in(definition(f"{server.base}/mcp"), around, LoginStore(home), show)
    except LoginFailed as error:
        return str(error)
    return "in"


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
async def test_nobody_and_nothing_is_sent_to_an_address_that_is_not_encrypted(
    hostile: Hostile, tmp_path: Path, name: str
) -> None:
    hostile.metadata = {name: "http://login.example.org/x"}
    assert "not encrypted" in await signed_in(hostile, tmp_path)
    assert not [path for path in hostile.asked if path.startswith("/token")], "the code was not given away"


async def test_where_to_ask_next_is_looked_at_too(hostile: Hostile, tmp_path: Path) -> None:
    hostile.resource_metadata = "http://169.254.169.254/latest/meta-data"
    assert "not encrypted" in await signed_in(hostile, tmp_path)


def test_a_server_elsewhere_reaches_nothing_on_this_machine() -> None:
    far, near = "https://mcp.example.org/mcp", "http://127.0.0.1:9/mcp"
    assert is_safe_endpoint("https://login.example.org/token", far)
    assert is_safe_endpoint("http://localhost:1/token", near)
    assert not is_safe_endpoint("http://127.0.0.1:8080/admin", far)
    assert not is_safe_endpoint("http://login.example.org/token", near)
    assert not is_safe_endpoint("file:///etc/passwd", near)
    assert not is_safe_endpoint("http://127.0.0.1.example.org/", near)
    assert not is_safe_endpoint("http://[::1", near)


async def test_a_state_of_the_servers_own_does_not_take_the_place_of_ours(hostile: Hostile, tmp_path: Path) -> None:
    hostile.metadata = {"authorization_endpoint": f"{hostile.base}/authorization_endpoint?state=known"}
    words = await signed_in(hostile, tmp_path)
    assert "/token_endpoint" in hostile.asked, words


async def test_a_token_too_long_to_be_kept_spoils_no_other_login(hostile: Hostile, tmp_path: Path) -> None:
    store, other = LoginStore(tmp_path), definition("https://other.example.org", "other")
    store.keep(other, tokens={"access_token": "of another server"})
    hostile.tokens = {"access_token": "x" * 3_000_000, "token_type": "Bearer"}
    assert "too long" in await signed_in(hostile, tmp_path)
    kept = store.get(other)
    assert kept is not None
    assert kept.tokens == {"access_token": "of another server"}
    with pytest.raises(UnkeepableLogin):
        store.keep(other, metadata={"x": "y" * 3_000_000})
    assert store.get(other) == kept


@pytest.mark.parametrize("status", [200, 401])
async def test_an_endless_answer_is_cut_off_whatever_it_calls_itself(status: int) -> None:
    sent = 0

    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                sent += 1_000_000
                yield b"x" * 1_000_000

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": "text/event-stream"}, stream=Endless())

    client = http_client({}, None, AnswerNotes())
    client._transport = httpx2.MockTransport(answer)  # pyright: ignore[reportPrivateUsage] (the bounds are the client's)
    client._mounts = {}  # pyright: ignore[reportPrivateUsage] (as above)
    with pytest.raises(httpx2.StreamError):
        await client.get("http://127.0.0.1/x", headers={"accept": "application/json"})
    assert sent < 200_000_000


@pytest.mark.parametrize("target", ["//[", "/callback?state=%FF", "http://[", "/callback?" + "a&" * 5_000, "\x00", ""])
async def test_what_is_no_address_ends_no_login_and_breaks_nothing(target: str) -> None:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, about: problems.append(about))
    async with Loopback() as loopback:
        loopback.expect("right")
        assert not loopback.offer(target)
        reader, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
        writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{loopback.port}\r\n\r\n".encode("latin-1"))
        assert not (await reader.read()).startswith(b"HTTP/1.1 200")
        writer.close()
        assert loopback.offer("/callback?state=right&code=c")
    assert problems == []
