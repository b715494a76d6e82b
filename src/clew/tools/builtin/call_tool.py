"""CallTool: stands for the call of a tool that is not in the model's list.

A good call of it never comes here: the engine runs the call that it stands for (`protocol/meant_calls.py`), with all
checks of that tool. What comes here says what is wrong with it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from msgspec import Struct

from clew.protocol.meant_calls import (
    ARGUMENTS_FIELD,
    CALL_TOOL,
    NOT_THROUGH,
    SEARCH_TOOLS,
    TOOL_FIELD,
    ToolSpec,
    given_arguments,
)
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.schema import BadArguments


class CallTool(Tool[Struct]):
    """In the list so that the model can call what is not."""

    name = CALL_TOOL
    effect: ClassVar[Effect] = "none"

    def spec(self) -> ToolSpec:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                TOOL_FIELD: {"type": "string"},
                ARGUMENTS_FIELD: {"type": "object", "additionalProperties": True},
            },
            "required": [TOOL_FIELD, ARGUMENTS_FIELD],
            "additionalProperties": False,
        }
        return ToolSpec(name=self.name, description=self.description, schema=schema)

    def decode(self, arguments: Mapping[str, Any]) -> NoReturn:
        """Always wrong here; says why."""
        name = arguments.get(TOOL_FIELD)
        if not isinstance(name, str) or not name.strip():
            words = f"say which tool in {TOOL_FIELD!r}; {SEARCH_TOOLS} finds names"
        elif name.strip() in NOT_THROUGH:
            words = f"call {name.strip()} directly, not through {CALL_TOOL}"
        elif given_arguments(dict(arguments)) is None:
            words = f"put what {name.strip()} takes into {ARGUMENTS_FIELD!r}, as one JSON object"
        else:
            words = "the call could not be understood"
        raise BadArguments(f"Nothing was run: {words}.")

    async def run(self, params: Struct, context: ToolContext) -> ToolResult:
        """Never: nothing can be decoded."""
        return ToolResult(text="Nothing was run.", is_error=True)
