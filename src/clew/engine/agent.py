"""One agent: its model, its tools, its conversation. What a turn reads and changes."""

from collections import deque

from clew.llm.model import Model
from clew.llm.request import ModelRequest
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.messages import (
    AssistantMessage,
    Message,
    Part,
    ReasoningPart,
    RedactedReasoningPart,
    UserMessage,
)
from clew.protocol.tools import ToolSpec
from clew.transcript.repair import repair

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
        self._reasoning_from = 0

    def use_model(self, model: Model) -> None:
        """Go on with another model. Reasoning of the old one is bound to it, so it is no longer sent."""
        if model.name != self.model.name:
            self._reasoning_from = len(self.messages)
        self.model = model

    def request(self, *, max_output_tokens: int | None = None) -> ModelRequest:
        """The next request: the whole view, repaired so that the provider accepts it."""
        messages = tuple(self.messages)
        if self._reasoning_from:
            cut = self._reasoning_from
            messages = tuple(without_reasoning(message) for message in messages[:cut]) + messages[cut:]
        return ModelRequest(
            system=self.system,
            messages=repair(messages),
            tools=self.specs,
            max_output_tokens=max_output_tokens or self.max_output_tokens,
            effort=self.effort,
        )


def without_reasoning(message: Message) -> Message:
    """The message without the parts that only its own model may read again."""
    if isinstance(message, UserMessage):
        return message
    kept = tuple(p for p in message.content if not isinstance(p, ReasoningPart | RedactedReasoningPart))
    if len(kept) == len(message.content):
        return message
    return AssistantMessage(
        id=message.id,
        model=message.model,
        content=kept,
        stop_reason=message.stop_reason,
        stop_sequence=message.stop_sequence,
        usage=message.usage,
    )
