"""SetStatusLine: an agent proposes the command of the status line, and a person decides, in every permission mode."""

from collections.abc import Callable
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, MemoryAccess
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.paths import problem

MAX_COMMAND_CHARS = 4_000
WHY = "every later session would run this command for its status line"


class SetStatusLineParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the status line shows."""

    command: Annotated[str, Meta(description="A shell command; it gets JSON on stdin and prints one line")]
    padding: Annotated[int, Meta(ge=0, le=20)] = 0


class SetStatusLine(Tool[SetStatusLineParams]):
    """Only the kind of agent that sets up the status line has it. It writes one key of the settings, nothing else."""

    name = "SetStatusLine"
    params: ClassVar[type[Struct]] = SetStatusLineParams

    def __init__(self, path: str, keep: Callable[[dict[str, str | int]], None]) -> None:
        """`path`: the settings file, for people. `keep` writes the value; raises ValueError or OSError."""
        self._path = path
        self._keep = keep

    def accesses(self, params: SetStatusLineParams, context: ToolContext) -> tuple[Access, ...]:
        return (MemoryAccess(tool=self.name, line=params.command, path=self._path, why=WHY),)

    async def run(self, params: SetStatusLineParams, context: ToolContext) -> ToolResult:
        if not params.command.strip() or len(params.command) > MAX_COMMAND_CHARS or "\0" in params.command:
            return problem(f"Nothing was changed: a command has 1 to {MAX_COMMAND_CHARS:,} characters.")
        value: dict[str, str | int] = {"type": "command", "command": params.command}
        value |= {"padding": params.padding} if params.padding else {}
        try:
            self._keep(value)
        except (ValueError, OSError) as error:
            return problem(f"Nothing was changed: {error}.")
        return ToolResult(text=f"statusLine is set in {self._path}; every other setting is as it was.")
