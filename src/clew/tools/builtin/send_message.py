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


class SendMessage(BuiltinTool[SendMessageParams]):
    """Hand a message over, and say what becomes of it."""

    name = "SendMessage"
    params: ClassVar[type[Struct]] = SendMessageParams
    effect: ClassVar[Effect] = "session"

    def accesses(self, params: SendMessageParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: SendMessageParams, context: ToolContext) -> ToolResult:
        if context.agents is None:
            return problem("There are no agents here to write to.")
        if not params.message.strip():
            return problem("The message is empty, so nothing was sent.")
        try:
            agent, what = await context.agents.message(params.to, params.message)
        except ValueError as error:
            return problem(f"Nothing was sent: {error}.")
        text = f"Delivered to {agent}: {what}."
        return ToolResult(text=text, display=(TextBlock(text=text),))
