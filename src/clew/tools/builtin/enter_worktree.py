"""EnterWorktree: the conversation moves into a git checkout of its own."""

from typing import Annotated, ClassVar, Protocol

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.paths import problem

ENTERS = "the conversation wants to work in a git checkout of its own from here on"


class WorktreePort(Protocol):
    """What the tools need of their session."""

    async def enter(self, name: str, *, changes: bool) -> str:
        """Work in a checkout from now on; words about it. Raises ValueError."""
        ...

    async def exit(self, *, remove: bool) -> str:
        """Work in the project's checkout again; words about it. Raises ValueError."""
        ...


class EnterWorktreeParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which one."""

    name: Annotated[str, Meta(description="Of the checkout; one that was kept is opened again")] = ""
    changes: Annotated[bool, Meta(description="A new one begins with what is uncommitted here")] = False


class EnterWorktreeTool(Tool[EnterWorktreeParams]):
    """Moves the main conversation into a checkout."""

    name = "EnterWorktree"
    source = "clew"
    params: ClassVar[type[Struct]] = EnterWorktreeParams
    effect: ClassVar[Effect] = "world"

    def __init__(self, port: WorktreePort) -> None:
        self._port = port

    def accesses(self, params: EnterWorktreeParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, about=ENTERS),)

    async def run(self, params: EnterWorktreeParams, context: ToolContext) -> ToolResult:
        try:
            return ToolResult(text=await self._port.enter(params.name, changes=params.changes))
        except ValueError as error:
            return problem(f"Nothing was changed: {error}.")
