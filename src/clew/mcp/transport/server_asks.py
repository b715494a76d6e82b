"""What a server may ask of us: where the agent works, a place for its log, a person's answer. Nothing else."""

from pathlib import Path
from typing import Any

import mcp_types as types

from clew.mcp.definitions import Definition
from clew.mcp.ports import Surroundings
from clew.mcp.transport.call_clocks import CallClocks

MAX_LOG_CHARS = 500


def roots_of(around: Surroundings) -> Any:
    """The session's roots, and nothing a server asks for besides."""

    async def roots(context: Any) -> types.ListRootsResult:
        # The SDK makes its own kind of address of the text.
        return types.ListRootsResult(
            roots=[types.Root(uri=Path(root).as_uri(), name=Path(root).name) for root in around.roots()]  # pyright: ignore[reportArgumentType]
        )

    return roots


def log_of(server: Definition, around: Surroundings) -> Any:
    """A server's own log goes to ours, for whoever looks for a fault."""

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        around.log(server.name, f"{params.level}: {str(params.data)[:MAX_LOG_CHARS]}")

    return log


def elicitation_of(server: Definition, around: Surroundings, clocks: CallClocks) -> Any:
    """How a server asks a person, whose time is not the server's; None: it cannot, and is told so."""
    ask = around.elicit
    if ask is None:
        return None

    async def elicited(context: Any, params: types.ElicitRequestParams) -> Any:
        with clocks.person():
            return await ask(server.name, params)

    return elicited
