"""Remember: the model proposes a line for a memory file, and a person decides, in every permission mode."""

from collections.abc import Callable
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, MemoryAccess
from clew.protocol.ids import CallId
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.paths import problem


class RememberParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to keep."""

    line: Annotated[str, Meta(description="One short sentence")]


class LineNotKept(Exception):
    """The line cannot be kept; says why, for the model."""


class RememberLine(Tool[RememberParams]):
    """It is not told of where the user did not ask for it."""

    name = "Remember"
    params: ClassVar[type[Struct]] = RememberParams

    def __init__(self, *, looked_at: Callable[[str], tuple[str, str]], keep: Callable[[str], str]) -> None:
        """`looked_at`: the exact line and the file for it; raises NotKept. `keep` writes it and says where; raises
        NotKept too."""
        self._looked_at = looked_at
        self._keep = keep
        self._shown: dict[CallId, tuple[str, str]] = {}
        """What a person is asked about, by call: only exactly that is kept."""

    def accesses(self, params: RememberParams, context: ToolContext) -> tuple[Access, ...]:
        try:
            line, path = self._looked_at(params.line)
        except LineNotKept:
            self._shown.pop(context.call_id, None)
            return ()  # `run` says why, and writes nothing
        self._shown[context.call_id] = (line, path)
        return (MemoryAccess(tool=self.name, line=line, path=path),)

    async def run(self, params: RememberParams, context: ToolContext) -> ToolResult:
        try:
            if self._shown.pop(context.call_id, None) != self._looked_at(params.line):
                raise LineNotKept("it is not what was shown to the user")
            return ToolResult(text=self._keep(params.line))
        except LineNotKept as why:
            return problem(f"Not remembered: {why}.")
