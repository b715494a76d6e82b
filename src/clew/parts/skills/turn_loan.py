"""What a skill or command brings for its turn: allow rules, effort, a model. The next turn has the session's own."""

from collections.abc import Callable

from clew.agents.permits import Permits
from clew.engine.agent import Agent
from clew.host.session import Session
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.protocol.events import Event, ModelChanged, TurnEnded, TurnStarted
from clew.skills.definitions import EFFORTS, SkillDefinition

PROJECT_EFFORT = "high"
"""The most that a project's file may ask for where the session itself asks for nothing."""


class TurnLoan:
    """Lends, and takes everything back when the turn ends, however that is (AL-13)."""

    def __init__(self, session: Session, agent: Agent, permits: Permits, connect: Callable[[str], Model]) -> None:
        self._session = session
        self._agent = agent
        self._permits = permits
        self._connect = connect

    def lend(self, definition: SkillDefinition) -> None:
        """For the rest of this turn. What cannot be lent is told, and the session's own stays."""
        told: list[str] = []
        rules = self._permits.lend(definition.allowed_tools)
        if rules:
            told.append(f"allowed without asking: {', '.join(rules)}")
        if definition.model and (model := self._model(definition)) is not None:
            self._agent.lend(model=model)
            told.append(f"model {model.name}")
        if definition.effort and self._may_ask_for(definition):
            self._agent.lend(effort=definition.effort)
            told.append(f"effort {definition.effort}")
        if told:
            self._session.notice("info", f"for this turn, by {definition.name}: {'; '.join(told)}", code="lent")

    def _may_ask_for(self, definition: SkillDefinition) -> bool:
        """A project's file may ask for less than the session does, not for more."""
        if definition.folder.level != "project":
            return True
        most = self._agent.own_effort or PROJECT_EFFORT
        return most not in EFFORTS or EFFORTS.index(definition.effort) <= EFFORTS.index(most)

    def _model(self, definition: SkillDefinition) -> Model | None:
        if definition.model == self._agent.own_model.name:
            return None
        try:
            model = self._connect(definition.model)
        except LLMError as error:
            words = f"{definition.name} asks for the model {definition.model}, which is not used: {error}"
            self._session.notice("warning", words, code="lent")
            return None
        if self._agent.thinking.mode == "disabled" and model.thinks == "always":
            return None
        self._session.retire(model)
        return model

    def hear(self, event: Event) -> None:
        """An event of the main agent: at the end of the turn all is taken back."""
        if not isinstance(event, TurnEnded | TurnStarted):
            return
        self._permits.take_back()
        if self._agent.take_back():
            self._session.publish(ModelChanged(model=self._agent.own_model.name, reason="the turn is over"))
