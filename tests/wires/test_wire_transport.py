"""What can go wrong on the way, each with its own words: L30, L35, redirects, HTML, stalls; keys stay at home."""

import asyncio
import contextlib
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.llm import remote as remote_module
from clew.llm.errors import BadResponse, ConnectionFailed, PromptTooLong, StreamBroken
from clew.llm.http.connection import tls_context
from clew.llm.models.providers import Patience, rows
from clew.llm.remote import RemoteModel
from clew.llm.reply import PartDone, ReplyDone, ReplyEvent, TextChunk
from clew.llm.retry import RetryPolicy
from clew.protocol.messages import TextPart
from fakes.effort import HANG_S
from fakes.loop_clock import LoopClock
from fakes.model_server import BODIES, ModelServer, fill
from wires.support import DIALECTS, KEY, Sleeps, ask, collect, failure, parts_in, remote, target

ONCE = RetryPolicy(max_attempts=1, begin_timeout_s=HANG_S, idle_timeout_s=HANG_S)
QUICK = RetryPolicy(max_attempts=1, begin_timeout_s=0.2, idle_timeout_s=0.2)
"""For servers that fall silent: nothing else may be expected within so short a time."""


def base(dialect: str, server: ModelServer) -> str:
    return server.url if dialect in ("anthropic", "gemini") else f"{server.url}/v1"


async def told(url: str, dialect: str = "anthropic", policy: RetryPolicy = ONCE) -> str:
    """The one line a person reads."""
    model = remote(dialect, url, policy=policy)
    error = await failure(model, ask("hi"))
    await model.close()
    assert KEY not in str(error)
    assert "\n" not in str(error)
    return f"{type(error).__name__}: {error}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def raw_server(
    answer: bytes, *, context: ssl.SSLContext | None = None, hold: threading.Event | None = None
) -> Iterator[tuple[int, list[bytes]]]:
    """A server that says one thing to everybody and remembers what it heard. With `hold` it then stays silent."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                stream = context.wrap_socket(connection, server_side=True) if context else connection
                heard.append(stream.recv(65536))
                stream.sendall(answer)
                if hold is not None:
                    hold.wait(10)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def no_names(*_: Any, **__: Any) -> Any:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def test_every_failure_has_its_own_words(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as offline:
        offline.setattr(socket, "getaddrinfo", no_names)
        unresolved = await told("http://api.example.org")
    lines = {
        "refused": await told(f"http://127.0.0.1:{free_port()}"),
        "dns": unresolved,
        "url": await told("ftp://127.0.0.1:9"),
    }
    with ModelServer([{"fault": "html"}]) as server:
        lines["html"] = await told(server.url)
    with ModelServer([{"fault": "wrong_type"}]) as server:
        lines["type"] = await told(server.url)
    with ModelServer([{"fault": "redirect", "location": "https://evil.example/steal"}]) as server:
        lines["redirect"] = await told(server.url)
    with ModelServer([{"fault": "hang"}]) as server:
        lines["silence"] = await told(server.url, policy=QUICK)
    with ModelServer([{"fault": "reset"}]) as server:
        lines["reset"] = await told(server.url)
    with raw_server(b"\x15\x03\x01\x00\x02\x02\x28") as (port, _):
        lines["tls"] = await told(f"https://127.0.0.1:{port}")
    with raw_server(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n") as (port, _):
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:proxypass@127.0.0.1:{port}")
        lines["proxy"] = await told("https://api.example.org")
    expected = {
        "refused": "refused the connection",
        "dns": "cannot be resolved",
        "url": "not usable",
        "html": "web page",
        "type": "text/plain instead of an event stream",
        "redirect": "redirects to evil.example",
        "silence": "did not answer for 0.2 s",
        "reset": "closed the connection",
        "tls": "no secure connection",
        "proxy": "asks for a login",
    }
    for kind, words in expected.items():
        assert words in lines[kind], (kind, lines[kind])
        assert lines[kind].startswith(("ConnectionFailed", "BadResponse")), lines[kind]
        assert "proxypass" not in lines[kind]
    assert len(set(lines.values())) == len(lines)


async def test_a_certificate_nobody_vouches_for_is_refused_and_the_key_is_not_sent(
    self_signed: tuple[ssl.SSLContext, Path],
):
    """The handshake fails before any byte of the request, and it is not tried again."""
    with raw_server(b"HTTP/1.1 200 OK\r\n\r\n", context=self_signed[0]) as (port, heard):
        line = await told(f"https://localhost:{port}", policy=RetryPolicy())
    assert "certificate" in line
    assert "SSL_CERT_FILE" in line
    assert heard == []


async def test_redirects_are_never_followed_and_the_other_host_hears_nothing():
    with ModelServer([{"text": "stolen"}]) as other:
        with ModelServer([{"fault": "redirect", "location": f"{other.url}/v1/messages"}]) as server:
            line = await told(server.url)
            assert server.requests[0].headers["x-api-key"] == KEY
        assert other.requests == []
    assert line.startswith("BadResponse")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_key_goes_into_one_header_and_not_into_the_address(dialect: str):
    with ModelServer([{"text": "ok"}]) as server:
        model = remote(dialect, base(dialect, server))
        await collect(model, ask("hi"))
        await model.close()
        sent = server.requests[0]
    header = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(dialect, "authorization")
    assert KEY in sent.headers[header]
    assert [name for name, value in sent.headers.items() if KEY in value] == [header]
    assert KEY not in sent.path
    assert KEY.encode() not in sent.raw


async def test_a_loopback_server_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with ModelServer([{"text": "ok"}]) as server:
        model = remote("anthropic", server.url)
        assert parts_in(await collect(model, ask("hi"))) == [TextPart(text="ok")]
        await model.close()


async def test_l30_a_slow_stream_is_not_a_stall():
    """Piece by piece, the whole much slower than the idle limit, no gap as long as it."""
    pieces = [part for number in range(4) for part in ({"text": str(number)}, {"wait": f"gate{number}"})]
    events: list[ReplyEvent] = []
    with ModelServer([{"parts": pieces}]) as server:
        model = remote(
            "anthropic", server.url, policy=RetryPolicy(max_attempts=1, begin_timeout_s=1000, idle_timeout_s=1000)
        )
        clock = LoopClock()

        def goes_on(gate: str) -> None:
            clock.forward(600)
            server.release(gate)

        async for event in model.stream(ask("hi")):
            events.append(event)
            if isinstance(event, TextChunk):  # later: when the model is waiting for the next piece
                asyncio.get_running_loop().call_later(0.01, goes_on, f"gate{event.text}")
        await model.close()
    assert parts_in(events) == [TextPart(text=str(number)) for number in range(4)]


async def test_a_stream_that_stalls_is_broken_with_the_time():
    with ModelServer([{"fault": "stall", "text": "some words and then nothing", "after": 5}]) as server:
        model = remote("anthropic", server.url, policy=QUICK)
        seen: list[ReplyEvent] = []
        with pytest.raises(StreamBroken, match=r"sent nothing for 0\.2 s"):
            await collect(model, ask("hi"), seen)
        await model.close()
    assert any(isinstance(event, TextChunk) for event in seen)


async def test_until_the_reply_begins_the_longer_patience_holds_and_then_the_shorter():
    """Headers, `message_start` and pings are no beginning: a model may think long before its first word."""
    begun = {"fault": "stall", "text": "some words and then nothing", "after": 5}
    not_begun = {"fault": "stall", "text": "never said", "after": 2}
    with ModelServer([begun, not_begun]) as server:
        slow_start = RetryPolicy(max_attempts=1, begin_timeout_s=60, idle_timeout_s=0.2)
        assert "sent nothing for 0.2 s" in await told(server.url, policy=slow_start)
        quick_start = RetryPolicy(max_attempts=1, begin_timeout_s=0.2, idle_timeout_s=60)
        assert "sent nothing for 0.2 s" in await told(server.url, policy=quick_start)


async def test_a_silence_before_the_beginning_is_tried_again():
    with ModelServer([{"fault": "stall", "text": "x", "after": 2}, {"fault": "hang"}, {"text": "ok"}]) as server:
        model = remote("anthropic", server.url, policy=RetryPolicy(begin_timeout_s=0.2))
        events = await collect(model, ask("hi"))
        await model.close()
    assert parts_in(events) == [TextPart(text="ok")]


def test_how_long_each_kind_of_server_may_be_silent():
    begin_s = {name: row.patience.begin_s for name, row in rows().items()}
    local = {name for name, row in rows().items() if row.local}
    assert local >= {"ollama", "llamacpp", "vllm", "lmstudio", "local"}
    assert {begin_s[name] for name in local} == {600.0}
    assert {begin_s[name] for name in set(begin_s) - local} == {300.0}
    assert (RetryPolicy().begin_timeout_s, RetryPolicy().idle_timeout_s) == (None, 90.0)


async def test_the_row_says_how_long_a_beginning_may_take():
    with ModelServer([{"fault": "hang"}]) as server:
        where = target("anthropic", server.url, patience=Patience(begin_s=0.2))
        model = RemoteModel(where, RetryPolicy(max_attempts=1), sleep=Sleeps())
        assert "did not answer for 0.2 s" in str(await failure(model, ask("hi")))
        await model.close()


async def test_a_stream_that_never_closes_ends_with_its_own_end():
    """After message_stop the server keeps the connection open and silent: the reply is complete all the same."""
    with ModelServer([{"parts": [{"text": "ok"}], "fault": "stall", "after": 7}]) as server:
        model = remote("anthropic", server.url)
        events = await collect(model, ask("hi"))
        await model.close()
    assert isinstance(events[-1], ReplyDone)


SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"


@contextlib.asynccontextmanager
async def dripping(head: bytes, drop: bytes) -> AsyncIterator[str]:
    """A server that says the same thing again and again until it is left."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            writer.write(head)
            while True:
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0 if len(drop) > 1000 else 0.01)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_stream_of_nothing_but_signs_of_life_is_given_up():
    impatient = RetryPolicy(max_attempts=1, begin_timeout_s=5, stall_timeout_s=0.2)
    for drop in (b": still here\n\n", b'event: ping\ndata: {"type": "ping"}\n\n'):
        async with dripping(SSE_HEAD, drop) as url:
            assert "for 0.2 s without going on" in await told(url, policy=impatient)
    async with dripping(JSON_HEAD, b" ") as url:
        model = remote("anthropic", url, policy=impatient)
        with pytest.raises(StreamBroken, match=r"for 0\.2 s without going on"):
            await model.complete(ask("hi"))
        await model.close()


async def test_a_stream_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote_module, "MAX_STREAM_BYTES", 1_000_000)
    chunk = b'data: {"id": "x", "choices": [{"delta": {"content": "' + b"a" * 2000 + b'"}}]}\n\n'
    async with dripping(SSE_HEAD, chunk) as url:
        assert "bytes without ending the reply" in await told(url, "openai-chat")


async def test_one_connection_serves_all_steps():
    with ModelServer([{"text": "ok"}] * 5) as server:
        accepted = count_connections(server)
        model = remote("anthropic", server.url)
        for _ in range(5):
            await collect(model, ask("hi"))
        await model.close()
    assert len(accepted) == 1


def count_connections(server: ModelServer) -> list[socket.socket]:
    seen: list[socket.socket] = []
    talk = server._talk

    def counted(connection: socket.socket) -> None:
        seen.append(connection)
        talk(connection)

    server._talk = counted
    return seen


async def test_closing_a_stream_early_drops_the_connection():
    with ModelServer([{"parts": [{"text": "a"}, {"wait": "gate"}, {"text": "b"}]}]) as server:
        model = remote("anthropic", server.url)
        stream = model.stream(ask("hi"))
        async for event in stream:
            if isinstance(event, PartDone):
                break
        await stream.aclose()
        await asyncio.wait_for(model.close(), HANG_S)


async def test_a_dropped_tls_stream_does_not_wait_for_the_other_side(
    self_signed: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
):
    """The server never answers the end of TLS; closing politely would wait for it."""
    context, certificate = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_context.cache_clear()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    words = b'data: {"id":"c","choices":[{"delta":{"content":"hi"}}]}\n\n'
    gate = threading.Event()
    waited: list[str] = []
    wait_closed = asyncio.StreamWriter.wait_closed

    async def spied(writer: asyncio.StreamWriter) -> None:
        try:
            await wait_closed(writer)
            waited.append("closed")
        except BaseException as error:
            waited.append(type(error).__name__)
            raise

    monkeypatch.setattr(asyncio.StreamWriter, "wait_closed", spied)
    with raw_server(head + words, context=context, hold=gate) as (port, _):
        model = remote("openai-chat", f"https://localhost:{port}/v1")
        stream = model.stream(ask("hi"))
        async for event in stream:
            if isinstance(event, TextChunk):
                break
        await stream.aclose()
        await model.close()
        gate.set()
    assert waited
    assert "CancelledError" not in waited, "the limit on waiting had to end it"
    tls_context.cache_clear()


async def test_a_part_arrives_while_the_stream_still_runs():
    script = [{"parts": [{"call": "Read", "arguments": {"file_path": "x"}}, {"wait": "gate"}, {"text": "later"}]}]
    for dialect in ("anthropic", "openai-responses", "gemini"):
        with ModelServer(list(script)) as server:
            model = remote(dialect, base(dialect, server))
            stream = model.stream(ask("hi"))
            async with asyncio.timeout(HANG_S):
                async for event in stream:
                    if isinstance(event, PartDone):
                        break
            server.release("gate")
            rest = [event async for event in stream]
            await model.close()
        assert parts_in(rest) == [TextPart(text="later")]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("streamed", [True, False])
async def test_prompt_too_long_is_recognised_in_every_dialect(dialect: str, streamed: bool):
    with ModelServer([{"fault": "prompt_too_long"}] * 2) as server:
        model = remote(dialect, base(dialect, server))
        with pytest.raises(PromptTooLong):
            await (collect(model, ask("hi")) if streamed else model.complete(ask("hi")))
        await model.close()
        assert len(server.requests) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_output_limit_is_a_stop_reason(dialect: str):
    with ModelServer([{"fault": "output_limit", "text": "half"}]) as server:
        model = remote(dialect, base(dialect, server))
        events = await collect(model, ask("hi"))
        await model.close()
    assert isinstance(events[-1], ReplyDone)
    assert events[-1].stop_reason == "max_tokens"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_junk_in_the_stream_is_a_broken_stream_and_the_whole_reply_still_works(dialect: str):
    with ModelServer([{"fault": "malformed", "text": "ok"}] * 2) as server:
        model = remote(dialect, base(dialect, server))
        assert isinstance(await failure(model, ask("hi")), StreamBroken)
        assert (await model.complete(ask("hi"))).parts == (TextPart(text="ok"),)
        await model.close()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_server_that_ignores_streaming_is_understood(dialect: str):
    with ModelServer([{"text": "ok"}]) as server:
        model = remote(dialect, base(dialect, server))
        whole = await model.complete(ask("hi"))
        body = {"body": as_body(dialect), "content_type": "application/json"}
        await model.close()
    with ModelServer([body]) as server:
        model = remote(dialect, base(dialect, server))
        events = await collect(model, ask("hi"))
        await model.close()
    assert tuple(parts_in(events)) == whole.parts


def as_body(dialect: str) -> str:
    name = {"openai-chat": "chat", "openai-responses": "responses"}.get(dialect, dialect)
    return json.dumps(BODIES[name](fill({"text": "ok"}, 1, "m")))


@pytest.mark.parametrize("body", ["", "[]", "{", "null", "<html>", "7"])
async def test_a_whole_reply_that_is_none_is_a_bad_response(body: str):
    with ModelServer([{"body": body}]) as server:
        model = remote("anthropic", server.url, policy=ONCE)
        with pytest.raises(BadResponse):
            await model.complete(ask("hi"))
        await model.close()


async def test_a_compressed_answer_is_told():
    gzip = {"body": "zzz", "headers": {"content-encoding": "gzip"}}
    with ModelServer([gzip]) as server:
        assert "compressed (gzip)" in await told(server.url)


async def test_a_header_that_is_not_valid_does_not_leak():
    with ModelServer([{"text": "ok"}]) as server:
        where = target("anthropic", server.url, headers=(("x-secret", f"bad\nvalue {KEY}"),))
        model = RemoteModel(where, ONCE, sleep=Sleeps())
        error = await failure(model, ask("hi"))
        await model.close()
    assert isinstance(error, ConnectionFailed)
    assert KEY not in str(error)
    assert "headers" in str(error)


async def test_a_target_never_sends_outside_its_base_url():
    model = remote("anthropic", "http://127.0.0.1:9", policy=ONCE)
    request: Any = model._wire.encode(ask("hi"), target("anthropic", "http://127.0.0.1:10"), stream=True)
    with pytest.raises(ConnectionFailed, match="outside"):
        async with model._transport.open(request, idle_s=1):
            pass
