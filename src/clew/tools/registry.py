"""The list of builtin tools, in the fixed order in which a model is told of them."""

from collections.abc import Collection
from typing import Any

from clew.tools.base import Tool
from clew.tools.builtin import BuiltinTool
from clew.tools.read import Read
from clew.tools.session import ToolSession

BUILTIN: tuple[type[BuiltinTool[Any]], ...] = (Read,)


def builtin_tools(
    session: ToolSession, *, allowed: Collection[str] | None = None, disallowed: Collection[str] = ()
) -> tuple[Tool[Any], ...]:
    """The tools of a session. `allowed` None: all; names that are no builtin tool are ignored here."""
    return tuple(
        tool(session) for tool in BUILTIN if (allowed is None or tool.name in allowed) and tool.name not in disallowed
    )
