"""clew as a server: read-only tools over stdin and stdout, in the SDK's protocol. What they do is given."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from clew import __version__
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import ImagePart
from clew.tools.base import ToolResult

Call = Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]]
"""Calls a tool by its name; whatever goes wrong is a result."""


def serve_tools(tools: Sequence[ToolSpec], call: Call, *, instructions: str) -> None:
    """Until stdin ends."""
    anyio.run(_serve, server_of(tools, call, instructions=instructions))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def server_of(tools: Sequence[ToolSpec], call: Call, *, instructions: str) -> Server[Any]:
    """The server of the SDK with our answers."""

    async def on_list(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[told(tool) for tool in tools])

    async def on_call(_context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await call(params.name, params.arguments or {})
        pictures = [
            types.ImageContent(data=part.source.data, mime_type=part.source.media_type)
            for part in result.media
            if isinstance(part, ImagePart)
        ]
        return types.CallToolResult(content=[types.TextContent(text=result.text), *pictures], is_error=result.is_error)

    return Server(
        "clew",
        version=__version__,
        title="clew",
        instructions=instructions,
        on_list_tools=on_list,
        on_call_tool=on_call,
    )


def told(tool: ToolSpec) -> types.Tool:
    """A tool, with hints that are true of each."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
