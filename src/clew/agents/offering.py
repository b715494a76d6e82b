"""What a call was refused and a person could allow: told once for each rule, with the words that allow it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from clew.engine.ports import CallChange
from clew.protocol.messages import ToolCallPart
from clew.tools.base import Tool, ToolResult


class OfferTelling:
    """One per session. The call itself goes on as it is: allowing takes effect with the next one."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = _nobody
        self._told: set[str] = set()

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """Nothing is changed."""
        return None

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        """Nothing is kept."""
        yield

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """The result is the model's; the offer is a person's."""
        for offer in result.offers:
            if offer.rule not in self._told:
                self._told.add(offer.rule)
                self.tell(
                    f"{offer.covers} was withheld because it may hold secrets. To let this project read it: "
                    f"/permissions allow {offer.rule}  (from a shell: clew permissions allow '{offer.rule}')"
                )
        return result


def _nobody(text: str) -> None:
    """Until the session is there."""
