"""One agent: its model, its tools, its conversation. What a turn reads."""

from clew.llm.model import Model
from clew.llm.request import ModelRequest, Thinking
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.tools.toolset import ToolSet
from clew.transcript.conversation import Conversation


class Agent:
    """The conversation is read here and written by the host alone, which records events before the engine goes on."""

    def __init__(
        self,
        *,
        conversation: Conversation,
        model: Model,
        system: tuple[str, ...],
        tools: ToolSet,
        fallback: Model | None = None,
        effort: str | None = None,
        thinking: Thinking | None = None,
        max_output_tokens: int | None = None,
        agent_id: AgentId = MAIN_AGENT,
    ) -> None:
        self.id = agent_id
        self.conversation = conversation
        self.model = model
        self.fallback = fallback
        self.system = system
        self.tools = tools
        self.effort = effort
        self.thinking = thinking or Thinking()
        self.max_output_tokens = max_output_tokens

    def request(self, *, max_output_tokens: int | None = None) -> ModelRequest:
        """The next request: the whole view. What a provider needs beyond that is the wire's business."""
        return ModelRequest(
            system=self.system,
            messages=self.conversation.messages(),
            tools=self.tools.specs,
            max_output_tokens=max_output_tokens or self.max_output_tokens,
            effort=self.effort,
            thinking=self.thinking,
        )
