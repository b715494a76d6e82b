"""What a model is told about a tool."""

from typing import Any

from msgspec import Struct

STRUCTURED_OUTPUT = "StructuredOutput"
"""The tool that takes an answer of a shape that was asked for."""


class ToolSpec(Struct, frozen=True, kw_only=True):
    """Name, words and JSON schema of one tool. The list is constant within a session (prompt cache)."""

    name: str
    description: str
    schema: dict[str, Any]
