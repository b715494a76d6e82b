"""A real MCP server of the SDK, as a program (stdio) or at addresses: `python mcp_server.py [http]`.

Its tools do what the tests of the client need: echo, slow answers with progress, pictures, faults.
"""

import asyncio
import json
import os
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ToolAnnotations

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000"
    "000049454e44ae426082"
)
server = MCPServer(os.environ.get("FAKE_NAME", "fake"), version="1.2.3", instructions="Use echo to echo.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True, title="Echo"))
def echo(text: str) -> str:
    """Say the same again."""
    return f"echo: {text}"


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def picture() -> Image:
    """A very small picture."""
    return Image(data=PNG, format="png")


@server.tool()
def environment(name: str) -> str:
    """A variable of this process."""
    return os.environ.get(name, "(not set)")


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool()
async def slow(steps: int, ctx: Context, seconds: float = 0.0) -> str:
    """Take some steps, telling each, then wait."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    await asyncio.sleep(seconds)
    return "done"


@server.tool()
async def roots(ctx: Context) -> str:
    """Where the client says that it works."""
    found = await ctx.session.list_roots()
    return "\n".join(str(root.uri) for root in found.roots)


@server.tool()
def flood(megabytes: int) -> str:
    """Much text."""
    return "x" * (megabytes * 1_000_000)


@server.tool()
def die() -> str:
    """End this process in the middle of a call."""
    os._exit(3)


@server.tool()
async def grow(ctx: Context) -> str:
    """One tool more."""
    server.add_tool(echo, name=f"echo_{len(await server.list_tools())}")
    await ctx.notify_tools_changed()
    return "grown"


@server.prompt()
def greet(name: str) -> str:
    """A greeting."""
    return f"Greet {name}."


@server.resource("notes://today")
def today() -> str:
    """The notes of today."""
    return "Nothing happened."


@server.tool()
def decide(tool_name: str, input: dict[str, object], tool_use_id: str) -> str:
    """Answer for a person: everything but what holds the word "no"."""
    if "no" in json.dumps(input):
        return json.dumps({"behavior": "deny", "message": "the word no is in it"})
    return json.dumps({"behavior": "allow", "updatedInput": input})


@server.tool()
def decide_and_tell(tool_name: str, input: dict[str, Any], tool_use_id: str) -> dict[str, Any]:
    """Say yes as most servers are written, with an object, and tell what was asked."""
    with open(os.environ["FAKE_ASKED"], "a") as file:
        file.write(json.dumps([tool_name, input]) + "\n")
    return {"behavior": "allow", "updatedInput": {**input, **({"text": "changed"} if "text" in input else {})}}


def at_addresses() -> None:
    """Both kinds of HTTP at one port: `/mcp` and `/sse`. The port is told on stdout; who has no token is refused."""
    token = os.environ.get("FAKE_TOKEN", "")
    listener = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app()
    app.router.routes.extend(server.sse_app().routes)

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        if scope["type"] == "http" and token and headers.get(b"authorization") != f"Bearer {token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"who are you?"})
            return
        await app(scope, receive, send)

    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        at_addresses()
    else:
        if os.environ.get("FAKE_PIDFILE"):
            with open(os.environ["FAKE_PIDFILE"], "w") as file:
                file.write(str(os.getpid()))
        server.run("stdio")
