"""One loopback network for the commands of a session: servers and clients meet there, and meet nobody else."""

import asyncio
import shutil
import socket

import pytest

from clew.system.sandbox.policy import Sandbox
from clew.tools.session import ToolSession
from unit.sandbox.world import KINDS, World

SOCKET_TEST = """
import asyncio, http.server, socketserver, tempfile, threading, unittest, urllib.request

class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline())

class Sockets(unittest.TestCase):
    def test_threads(self):
        import socket
        with socketserver.ThreadingTCPServer(("localhost", 0), Echo) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with socket.create_connection(server.server_address) as client:
                client.sendall(b"hello\\n")
                assert client.recv(9) == b"hello\\n"
            server.shutdown()

    def test_http(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").status == 200
        server.shutdown()

    def test_asyncio(self):
        async def main():
            async def answer(reader, writer):
                writer.write(await reader.readline())
                writer.close()
            place = tempfile.mkdtemp() + "/s"
            over_tcp = await asyncio.start_server(answer, "::1", 0, family=10)
            port = over_tcp.sockets[0].getsockname()[1]
            for server, dial in (
                (over_tcp, lambda: asyncio.open_connection("::1", port)),
                (await asyncio.start_unix_server(answer, place), lambda: asyncio.open_unix_connection(place)),
                (await asyncio.start_unix_server(answer, "rel.sock"), lambda: asyncio.open_unix_connection("rel.sock")),
            ):
                reader, writer = await dial()
                writer.write(b"x\\n")
                assert await reader.readline() == b"x\\n"
                server.close()
        asyncio.run(main())
"""
NODE_TEST = """
const http = require('http');
const server = http.createServer((q, a) => a.end('hello from node')).listen(0, 'localhost', () =>
  http.get({port: server.address().port, host: 'localhost'}, (r) =>
    r.on('data', (d) => { console.log(String(d)); process.exit(0); })));
"""
FETCH = "python3 -c \"import urllib.request as u; print(u.urlopen('http://localhost:{}/').read().decode())\""


@pytest.fixture
def starter() -> None:
    """The network is the starter's: each session has its own."""


@pytest.fixture
def connected(world: World) -> World:
    if world.kind == "landlock":
        pytest.skip("Landlock alone promises no sockets at all")
    return world


async def serve(world: World, port: int) -> None:
    """As `npm run dev` would: in the background, until killed."""
    (world.ws / "src" / "index.html").write_text("from the server")
    command = f"cd src && python3 -u -m http.server {port} --bind 127.0.0.1"
    assert not (await world.run(command, background=True)).is_error


async def fetched(world: World, port: int) -> str:
    text = ""
    for _ in range(200):  # it needs a moment to listen
        result = await world.run(FETCH.format(port))
        text = result.text
        if not result.is_error:
            break
    return text


async def test_a_test_suite_with_sockets(connected: World):
    (connected.ws / "src" / "test_sockets.py").write_text(SOCKET_TEST)
    result = await connected.run("cd src && python3 -m unittest test_sockets")
    assert "Ran 3 tests" in result.text, result.text
    assert not result.is_error, result.text


@pytest.mark.skipif(not shutil.which("node"), reason="no node on this machine")
async def test_node(connected: World):
    (connected.ws / "src" / "serve.js").write_text(NODE_TEST)
    assert "hello from node" in (await connected.run("node src/serve.js")).text


async def test_the_next_command_reaches_a_server_in_the_background(connected: World):
    await serve(connected, 8765)
    assert "from the server" in await fetched(connected, 8765)
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", 8765), timeout=5):
        pass
    (shell,) = connected.session.shells.background.values()
    await shell.stop("agent")
    assert (await connected.run(FETCH.format(8765))).is_error


async def test_another_session_does_not_reach_it(connected: World):
    await serve(connected, 8766)
    assert "from the server" in await fetched(connected, 8766)
    mine = connected.session
    sandbox = Sandbox(lambda: KINDS[connected.kind], home=str(connected.home))
    connected.session = ToolSession(cwd=mine.cwd, sandbox=sandbox, env=mine.env)
    try:
        assert "refused" in (await connected.run(FETCH.format(8766))).text
    finally:
        await connected.session.close()
        connected.session = mine


async def test_commands_share_the_network_and_nothing_else(connected: World):
    await serve(connected, 8767)
    assert "from the server" in await fetched(connected, 8767)
    seen = await connected.run(
        "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; python3 src/a.py; ls /proc/1/root/ > /dev/null"
    )
    assert "http.server" not in seen.text
    await asyncio.gather(*(connected.run("true") for _ in range(4)))
