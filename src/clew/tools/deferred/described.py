"""A tool that is known only by its description: name, words and JSON schema come from elsewhere, at run time."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from clew.protocol.meant_calls import ToolSpec
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.extras import answer_schema
from clew.tools.schema import BadArguments

Json = dict[str, Any]


class Arguments(Struct, frozen=True, kw_only=True):
    """What the model gave, as it fits the schema."""

    given: Json


class DescribedTool(Tool[Arguments]):
    """Subclasses say how it runs. Its words are somebody else's and are never ours."""

    def __init__(self, *, name: str, words: str, schema: Json, source: str = "", hint: str = "") -> None:
        self.name = name
        self.source = source
        self.hint = hint
        self._words = words
        self._schema = schema
        self._judge: Any = None

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self._words, schema=self._schema)

    def decode(self, arguments: Mapping[str, Any]) -> Arguments:
        """As they are when they fit, or without what is null: many models write that for what they leave out."""
        given = dict(arguments)
        problems = self._problems(given)
        if problems and (fewer := {key: value for key, value in given.items() if value is not None}) != given:
            given, problems = (given, problems) if self._problems(fewer) else (fewer, "")
        if problems:
            wanted = parameters_in_words(self._schema)
            raise BadArguments(f"Wrong arguments for {self.name}, nothing was run: {problems}. Parameters: {wanted}.")
        return Arguments(given=given)

    def _problems(self, given: Json) -> str:
        """What does not fit; a schema that we cannot use is left to whoever made it."""
        if self._judge is None:
            part = answer_schema()
            try:
                self._judge = part.AnswerSchema(self._schema)
            except part.SchemaError:
                self._judge = False
        return self._judge.problems(given, called="arguments") if self._judge else ""

    @abstractmethod
    async def run(self, params: Arguments, context: ToolContext) -> ToolResult:
        """Do it."""


def parameters_in_words(schema: Json, *, most: int = 20) -> str:
    """The parameters of an object schema, such as `text: string, limit: integer (optional)`."""
    required = required_of(schema)
    words = [
        f"{name}: {kind_of(shape)}" + ("" if name in required else " (optional)")
        for name, shape in list(properties_of(schema).items())[:most]
    ]
    return ", ".join(words) or "none"


def properties_of(schema: Json) -> Json:
    """The parameters; none where the schema makes no sense."""
    found = schema.get("properties")
    return cast("Json", found) if isinstance(found, dict) else {}


def required_of(schema: Json) -> list[str]:
    """The names of those that must be given."""
    found = schema.get("required")
    return [name for name in cast("list[Any]", found) if isinstance(name, str)] if isinstance(found, list) else []


def kind_of(shape: Any) -> str:
    """The type that a property has, if it says one."""
    kind = cast("Json", shape).get("type") if isinstance(shape, dict) else None
    return kind if isinstance(kind, str) else "value"
