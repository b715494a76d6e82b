"""One agent: its model, its tools, its conversation. What a turn reads and changes."""

from collections import deque

from clew.llm.model import Model
from clew.llm.request import ModelRequest
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.messages import Message, Part
from clew.protocol.tools import ToolSpec

Content = str | tuple[Part, ...]


class Agent:
    """Mutable on purpose, and only by the engine: messages are appended, never changed."""

    def __init__(
        self,
        *,
        model: Model,
        system: tuple[str, ...],
        specs: tuple[ToolSpec, ...] = (),
        messages: tuple[Message, ...] = (),
        fallback: Model | None = None,
        effort: str | None = None,
        max_output_tokens: int | None = None,
        agent_id: AgentId = MAIN_AGENT,
    ) -> None:
        self.id = agent_id
        self.model = model
        self.fallback = fallback
        self.system = system
        self.specs = specs
        self.messages: list[Message] = list(messages)
        self.effort = effort
        self.max_output_tokens = max_output_tokens
        self.inbox: deque[Content] = deque()
        """What the user typed while the agent worked; joins at the next step boundary."""

    def use_model(self, model: Model) -> None:
        """Go on with another model. Reasoning of the old one is bound to it; the wires no longer send it."""
        self.model = model

    def request(self, *, max_output_tokens: int | None = None) -> ModelRequest:
        """The next request: the whole view; the wire makes it valid for its provider."""
        return ModelRequest(
            system=self.system,
            messages=tuple(self.messages),
            tools=self.specs,
            max_output_tokens=max_output_tokens or self.max_output_tokens,
            effort=self.effort,
        )
