"""What a session gets when its answers must have a shape; loaded only then."""

from typing import Any

from msgspec import Struct

from clew.config.errors import SettingsError
from clew.engine.middleware.base import Middleware
from clew.tools.base import Tool


class OutputParts(Struct, frozen=True, kw_only=True):
    """Nothing, where answers are free."""

    tools: tuple[Tool[Any], ...] = ()
    middlewares: tuple[Middleware, ...] = ()


def output_parts(schema: dict[str, Any] | None) -> OutputParts:
    """The tool that takes the output, and what sees to it that there is one. Raises SettingsError."""
    if schema is None:
        return OutputParts()
    from clew.engine.middleware.structured_output import StructuredOutputCheck
    from clew.tools.answer_schema import AnswerSchema
    from clew.tools.schema_keywords import SchemaError
    from clew.tools.structured_output import StructuredOutput

    try:
        shape = AnswerSchema(schema)
    except SchemaError as error:
        raise SettingsError(f"--json-schema: {error}") from error
    return OutputParts(tools=(StructuredOutput(shape),), middlewares=(StructuredOutputCheck(shape),))
