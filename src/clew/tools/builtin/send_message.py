"""SendMessage: one agent writes to another."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from clew.permissions.access import Access, ToolAccess
from clew.protocol.display import TextBlock
from clew.tools.base import Effect, ToolContext, ToolResult
from clew.tools.paths import problem
from clew.tools.session import BuiltinTool


class SendMessageParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """To whom, and what."""

    to: Annotated[str, Meta(description="Id or name; an agent below you may write to parent")]
    message: str
    summary: str = ""


class SendMessage(BuiltinTool[SendMessageParams]):
    """Hand a message over, and say what becomes of it."""

    name = "SendMessage"
    params: ClassVar[type[Struct]] = SendMessageParams
    untold: ClassVar[frozenset[str]] = frozenset({"summary"})
    """What other programs' models give besides: the message tells enough."""
    effect: ClassVar[Effect] = "session"

    def accesses(self, params: SendMessageParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: SendMessageParams, context: ToolContext) -> ToolResult:
        if context.agents is None:
            return problem("There are no agents here to write to.")
        if not params.message.strip():
            return problem("The message is empty, so nothing was sent.")
        try:
            text = await context.agents.message(params.to.strip(), params.message)
        except ValueError as error:
            return problem(f"Nothing was sent: {error}.")
        return ToolResult(text=text, display=(TextBlock(text=text),))
