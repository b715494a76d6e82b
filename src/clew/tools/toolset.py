"""The tools of one agent: what the model is told stays the same, what can be called may come and go."""

from collections.abc import Iterable, Iterator
from typing import Any

from clew.protocol.tools import ToolSpec
from clew.tools.base import Tool


class ToolSet:
    """`specs` are fixed when the set is made, so that bytes already sent never change; `find` knows what is here."""

    def __init__(self, tools: Iterable[Tool[Any]] = ()) -> None:
        self._tools: dict[str, Tool[Any]] = {tool.name: tool for tool in tools}
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec() for tool in self._tools.values())

    def find(self, name: str) -> Tool[Any] | None:
        """The tool of this name, if it is there now."""
        return self._tools.get(name)

    def add(self, tool: Tool[Any]) -> None:
        """A tool that came later: it can be called, the model learns of it by other ways. Raises ValueError when the
        name is taken."""
        if tool.name in self._tools:
            raise ValueError(f"there is already a tool named {tool.name}")
        self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        """It went away; a call of it is answered with an error."""
        self._tools.pop(name, None)

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What can be called now."""
        return tuple(self._tools)
