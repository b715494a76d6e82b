"""What is asked of a model, in no provider's dialect."""

from typing import Any

from msgspec import Struct

from clew.protocol.messages import Message
from clew.protocol.tools import ToolSpec


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request. Equal requests encode to equal bytes, and a longer history only appends to a shorter one's."""

    system: tuple[str, ...]
    """Blocks of the system prompt, the most stable first."""
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    """None: the profile's default."""
    effort: str | None = None
    """low, medium, high, xhigh or max; clamped to what the model accepts."""
    temperature: float | None = None
    purpose: str = "main"
    """`main`, or `side-query:<purpose>`: those give up at once on overload."""
    json_schema: dict[str, Any] | None = None
    """Ask for an answer of this shape, where the provider can."""

    @property
    def is_one_shot(self) -> bool:
        """A side query: no thinking, and no cache marks, because nothing follows it."""
        return self.purpose.startswith("side-query:")
