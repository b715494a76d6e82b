"""Models in a session: which can be named, and going on with another."""

from functools import partial

from clew.host.model_choice import cannot_stop_thinking
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.parts.models.at_place import models_listed
from clew.protocol.events import ModelChanged
from clew.protocol.lookups.rules_and_models import ListModels, ModelsListed
from clew.protocol.ops import SetModel


class ModelPart(Part):
    """The main agent's model as a person changes it."""

    def __init__(self, setup: PartSetup) -> None:
        self._workspace = setup.workspace
        self._connect = setup.connect

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session

    def ops(self) -> OpHandlers:
        """Another model."""
        return {SetModel: self._set}

    def lookups(self) -> Answerers:
        """Which there are."""
        return {ListModels: self._list}

    async def _set(self, op: SetModel) -> Effect:
        try:
            model = self._connect(op.model)
        except LLMError as error:
            raise OpRefused(str(error)) from error
        if self._session.main.agent.thinking.mode == "disabled" and model.thinks == "always":
            raise OpRefused(cannot_stop_thinking(model))
        return partial(self._use, model)

    def _use(self, model: Model) -> None:
        self._session.use_model(model)
        self._session.publish(ModelChanged(model=model.name, reason="user"))

    async def _list(self, lookup: ListModels) -> ModelsListed:
        return await models_listed(self._workspace)
