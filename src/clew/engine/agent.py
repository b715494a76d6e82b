"""One agent: its model, its tools, its conversation. What a turn reads."""

from clew.llm.model import Model
from clew.llm.request import ModelRequest, Thinking
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.tools.toolset import ToolSet
from clew.transcript.chain.conversation import Conversation


class Agent:
    """The conversation is read here and written by the host alone, which records events before the engine goes on.

    Model and effort can be lent for the turn under way; `take_back` gives the agent its own again. Who sets one of them
    while it is lent means the session, and ends the loan; only a fallback from a lent model stays within the loan.
    """

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
        self.own_model = model
        self.own_effort = effort
        self._lent_model: Model | None = None
        self._lent_effort: str | None = None
        self._fell = False
        self.fallback = fallback
        self.system = system
        self.tools = tools
        self.thinking = thinking or Thinking()
        self.max_output_tokens = max_output_tokens

    @property
    def model(self) -> Model:
        """The one that is asked now."""
        return self._lent_model or self.own_model

    @model.setter
    def model(self, model: Model) -> None:
        self.own_model, self._lent_model = model, None

    @property
    def effort(self) -> str | None:
        """How much thinking is asked for now; None: as the model likes."""
        return self._lent_effort or self.own_effort

    @effort.setter
    def effort(self, effort: str | None) -> None:
        self.own_effort, self._lent_effort = effort, None

    def lend(self, *, model: Model | None = None, effort: str | None = None) -> None:
        """Until the turn ends."""
        self._lent_model = model or self._lent_model
        self._lent_effort = effort or self._lent_effort

    def take_back(self) -> bool:
        """The turn is over: the agent has its own again. Whether another model was told to be in use meanwhile."""
        fell, self._fell = self._fell, False
        self._lent_model = self._lent_effort = None
        return fell

    def fall_back(self, fallback: Model) -> None:
        """The model in use is gone: this one instead, for as long as that one would have been asked."""
        if self._lent_model is not None:
            self._lent_model, self._fell = fallback, True
        else:
            self.own_model = fallback

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
