"""ExitWorktree: the conversation leaves its own git checkout, and works in the project's again."""

from typing import ClassVar, Literal

from msgspec import Struct

from clew.permissions.access import Access, ToolAccess
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.builtin.enter_worktree import WorktreePort
from clew.tools.paths import problem

LEAVES = "the conversation wants to leave its own git checkout: what it holds is saved in your repository first"


class ExitWorktreeParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What becomes of it."""

    action: Literal["keep", "remove"]


class ExitWorktreeTool(Tool[ExitWorktreeParams]):
    """Moves the main conversation back into the project's checkout."""

    name = "ExitWorktree"
    source = "clew"
    params: ClassVar[type[Struct]] = ExitWorktreeParams
    effect: ClassVar[Effect] = "world"

    def __init__(self, port: WorktreePort) -> None:
        self._port = port

    def accesses(self, params: ExitWorktreeParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, about=LEAVES),)

    async def run(self, params: ExitWorktreeParams, context: ToolContext) -> ToolResult:
        try:
            return ToolResult(text=await self._port.exit(remove=params.action == "remove"))
        except ValueError as error:
            return problem(f"Nothing was changed: {error}.")
