"""A server's question in the SDK's words, put to whoever is there, and the answer in the SDK's words again."""

from collections.abc import Awaitable
from typing import Any, Protocol

import mcp_types as types
from mcp import MCPError

from clew.protocol.ops import AnswerElicitation


class Asks(Protocol):
    """Puts a question to a person. Raises ValueError for what nobody can be shown."""

    def __call__(
        self, server: str, message: str, *, schema: dict[str, Any] | None = None, url: str = ""
    ) -> Awaitable[AnswerElicitation]: ...


async def elicited(ask: Asks, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
    """What came of it. A question that cannot be shown is an error for the server, and nobody is bothered."""
    try:
        if isinstance(params, types.ElicitRequestURLParams):
            answer = await ask(server, params.message, url=params.url)
        else:
            answer = await ask(server, params.message, schema=params.requested_schema)
    except ValueError as error:
        raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from error
    if answer.action != "accept" or isinstance(params, types.ElicitRequestURLParams):
        return types.ElicitResult(action=answer.action)
    return types.ElicitResult(action="accept", content=answer.values)
