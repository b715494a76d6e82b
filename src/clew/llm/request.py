"""What is asked of a model, in no provider's dialect."""

from typing import Any, Literal

from msgspec import Struct

from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import Message

BUDGETS = {"low": 2_048, "medium": 8_192, "high": 16_000, "xhigh": 24_000, "max": 31_000}
"""How many tokens of thinking a level of effort stands for, where a model takes a number or a number is given."""


class Thinking(Struct, frozen=True, kw_only=True):
    """How a model is to think. Nothing said: as its provider has it."""

    mode: Literal["", "adaptive", "enabled", "disabled"] = ""
    budget_tokens: int | None = None
    """At most so much, where the model takes a number; else the level that comes nearest."""
    shown: bool = True
    """Let the provider send what it tells of it."""


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
    thinking: Thinking = Thinking()
    temperature: float | None = None
    purpose: str = "main"
    """`main`, or `side-query:<purpose>`: those give up at once on overload."""
    json_schema: dict[str, Any] | None = None
    """Ask for an answer of this shape, where the provider can."""

    @property
    def level(self) -> str | None:
        """The effort that is asked for, by name or by a number of tokens."""
        tokens = self.thinking.budget_tokens
        if self.effort is not None or not tokens:
            return self.effort
        return next((level for level, budget in BUDGETS.items() if budget >= tokens), "max")

    @property
    def is_one_shot(self) -> bool:
        """A side query: no thinking, and no cache marks, because nothing follows it."""
        return self.purpose.startswith("side-query:")

    @property
    def is_silent(self) -> bool:
        """Not to think, or as little as the model can. It must be told: most think where nothing is said."""
        return self.is_one_shot or self.thinking.mode == "disabled"
