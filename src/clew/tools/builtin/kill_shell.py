"""KillShell: end a background command."""

from typing import ClassVar

from msgspec import Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TextBlock
from clew.tools.base import ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool


class KillShellParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which command."""

    shell_id: str


class KillShell(BuiltinTool[KillShellParams]):
    """End it, and say how it stood."""

    name = "KillShell"
    params: ClassVar[type[Struct]] = KillShellParams

    def accesses(self, params: KillShellParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: KillShellParams, context: ToolContext) -> ToolResult:
        known = self.session.shells.background
        shell = known.get(params.shell_id)
        if shell is None:
            return problem(f"There is no background command {params.shell_id!r}; known: {', '.join(known) or 'none'}.")
        if shell.ended is not None:
            return ToolResult(text=f"{shell.id} had already {shell.state}.")
        await shell.stop("agent")
        text = f"{shell.id} and everything it started were ended."
        return ToolResult(text=text, display=(TextBlock(text=text),))
