"""SearchTools and CallTool: how a model finds and calls tools that are not in its list.

A good call of CallTool never comes here: the engine runs the call that it stands for (`protocol/meant_calls.py`), with
all checks of that tool. What comes here says what is wrong with it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
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
from clew.tools.builtin.extras import finding
from clew.tools.schema import BadArguments
from clew.tools.toolset import ToolSet

if TYPE_CHECKING:
    from clew.tools.deferred.finding import ToolFinder


class SearchToolsParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is looked for."""

    query: str
    max_results: Annotated[int, Meta(ge=1, le=20)] = 5


class SearchTools(Tool[SearchToolsParams]):
    """Finds tools that are deferred, and answers with all that is needed to call them."""

    name = SEARCH_TOOLS
    params: ClassVar[type[Struct]] = SearchToolsParams
    untold: ClassVar[frozenset[str]] = frozenset({"max_results"})
    effect: ClassVar[Effect] = "none"

    def __init__(self) -> None:
        self._tools = ToolSet()
        self._finder: ToolFinder | None = None

    def look_through(self, tools: ToolSet) -> None:
        """The set of the session that it belongs to."""
        self._tools, self._finder = tools, None

    def is_concurrency_safe(self, params: SearchToolsParams) -> bool:
        return True

    def accesses(self, params: SearchToolsParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: SearchToolsParams, context: ToolContext) -> ToolResult:
        if self._finder is None:
            self._finder = finding().ToolFinder(self._tools)
        return await self._finder.find(params.query, params.max_results)


class CallTool(Tool[Struct]):
    """In the list so that the model can call what is not."""

    name = CALL_TOOL
    words_file: ClassVar[str] = "call_tool.md"
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
