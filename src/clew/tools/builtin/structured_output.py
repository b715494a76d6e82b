"""StructuredOutput: the answer as JSON of a shape that somebody asked for."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.meant_calls import STRUCTURED_OUTPUT, ToolSpec
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.schema import BadArguments
from clew.tools.schemas.answer_schema import AnswerSchema


class StructuredOutputParams(Struct, frozen=True, kw_only=True):
    """The answer itself."""

    value: Any


class StructuredOutput(Tool[StructuredOutputParams]):
    """Takes a value that has the shape, and nothing else. What becomes of it is the turn's business."""

    name = STRUCTURED_OUTPUT
    effect: ClassVar[Effect] = "none"

    def __init__(self, schema: AnswerSchema) -> None:
        self._schema = schema

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, schema=self._schema.parameters)

    def decode(self, arguments: Mapping[str, Any]) -> StructuredOutputParams:
        value = self._schema.value_in(dict(arguments))
        if problems := self._schema.problems(value):
            raise BadArguments(f"The output was not taken: {problems}. Call {self.name} again with all of it.")
        return StructuredOutputParams(value=value)

    def is_concurrency_safe(self, params: StructuredOutputParams) -> bool:
        return True

    def accesses(self, params: StructuredOutputParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: StructuredOutputParams, context: ToolContext) -> ToolResult:
        return ToolResult(text="The output was taken.")
