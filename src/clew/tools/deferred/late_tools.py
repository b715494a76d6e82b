"""Tools that come while a session runs: who brings them, who is still on the way, and how long that is waited for."""

from collections.abc import Collection
from typing import Any, Protocol

from clew.tools.base import Tool

WAIT_S = 10.0
"""How long a call or a search waits for a source that is still connecting."""


class LateTools(Protocol):
    """Whoever adds tools to a `ToolSet` later. A source is what stands in the names of its tools:
    `mcp__<source>__<tool>`, and in `Tool.source`."""

    def known_tools(self) -> tuple[Tool[Any], ...]:
        """What is known of them before the session starts, from an earlier time. They are never run: only their specs
        are used, to decide whether tools are searched for or told in full."""
        ...

    def connecting(self) -> tuple[str, ...]:
        """The sources whose tools may still come."""
        ...

    async def wait(self, sources: Collection[str], up_to_s: float) -> None:
        """Until none of these is connecting any more, or the time is over. Raises nothing for a source that failed."""
        ...


class NoLateTools:
    """Nothing comes later."""

    def known_tools(self) -> tuple[Tool[Any], ...]:
        """None."""
        return ()

    def connecting(self) -> tuple[str, ...]:
        """None."""
        return ()

    async def wait(self, sources: Collection[str], up_to_s: float) -> None:
        """Nothing to wait for."""


def source_in(name: str) -> str:
    """The source that a tool's name says; empty for one of another form."""
    kind, _, rest = name.partition("__")
    source, cut, _ = rest.partition("__")
    return source if kind == "mcp" and cut else ""
