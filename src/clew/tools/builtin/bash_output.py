"""BashOutput: what a background command said since the last look."""

import re
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TerminalBlock
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.extras import search_worker
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool

MAX_CHARS = 30_000
FILTER_TIMEOUT_S = 3.0


class BashOutputParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which command."""

    bash_id: str
    filter: Annotated[str, Meta(description="Show only lines that match this regular expression")] | None = None


class BashOutput(BuiltinTool[BashOutputParams]):
    """Look at a background command."""

    name = "BashOutput"
    params: ClassVar[type[Struct]] = BashOutputParams
    effect: ClassVar[Effect] = "session"
    waits: ClassVar[bool] = True

    def is_concurrency_safe(self, params: BashOutputParams) -> bool:
        return True

    def accesses(self, params: BashOutputParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: BashOutputParams, context: ToolContext) -> ToolResult:
        known = self.session.shells.background
        shell = known.get(params.bash_id)
        if shell is None:
            return problem(f"There is no background command {params.bash_id!r}; known: {', '.join(known) or 'none'}.")
        try:
            re.compile(params.filter or "")
        except re.error as error:
            return problem(f"filter is no valid regular expression: {error}.")
        new, skipped = shell.take_new()
        if params.filter and new:
            matching = await search_worker().ask_filter(new.splitlines(), params.filter, FILTER_TIMEOUT_S)
            if matching is None:
                shell.give_back(new)
                return problem("The filter took too long; use a simpler one. No output was lost.")
            new = "\n".join(matching)
        notes = [f"{shell.id} {'is running' if shell.ended is None else shell.state}."]
        cut = max(len(new) - MAX_CHARS, 0)
        if cut or skipped:
            where = f"; all of it is in {shell.output.path}" if shell.output.path else ""
            notes.append(f"{cut + skipped:,} earlier characters are left out{where}.")
        code = shell.ended.code if shell.ended is not None and not shell.killed else None
        block = TerminalBlock(command=shell.command, output=new[cut:], exit_code=code, background_id=shell.id)
        body = new[cut:].rstrip("\n") or "(no new output)"
        return ToolResult(text=body + "\n" + " ".join(notes), display=(block,))
