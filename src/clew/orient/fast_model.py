"""The fast model for side queries, beside the main one."""

from collections.abc import Callable

from clew.config.schema import Settings
from clew.llm.errors import LLMError
from clew.llm.model import Model
from clew.llm.models.connect import fast_model


def side_model(
    settings: Settings, main_model: str, connect: Callable[[str], Model], log: Callable[[str], None]
) -> Model | None:
    """The fast model, if there is one that can be used; never the main model in its place."""
    if settings.fast_model == "none":
        return None
    try:
        name = settings.fast_model or fast_model(main_model, settings.providers)
        return connect(name) if name else None
    except LLMError as error:
        log(f"no fast model: {error}")
        return None
