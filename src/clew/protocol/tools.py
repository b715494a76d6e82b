"""What a model is told about a tool.

Most tools are told in full from the first request on. Others come and go while a session runs (those of MCP servers):
they are deferred, found with `SearchTools` and run with `CallTool`, so that the list of tools stays the same bytes. A
call of `CallTool` stands for the call of another tool: see `meant_calls.py`.
"""

from typing import Any

from msgspec import Struct

STRUCTURED_OUTPUT = "StructuredOutput"
"""The tool that takes an answer of a shape that was asked for."""
SEARCH_TOOLS = "SearchTools"
"""The tool that finds deferred ones."""
CALL_TOOL = "CallTool"
"""The tool through which deferred ones are called."""


class ToolSpec(Struct, frozen=True, kw_only=True):
    """Name, words and JSON schema of one tool. The list is constant within a session (prompt cache)."""

    name: str
    description: str
    schema: dict[str, Any]
