"""Which model a session talks to: the one that is configured, and how any other name becomes one."""

from collections.abc import Callable
from contextlib import suppress

from clew.config.schema import Settings
from clew.host.workspace import Workspace
from clew.llm.connect import connect, default_model
from clew.llm.errors import MissingCredential
from clew.llm.model import Model
from clew.llm.retry import RetryPolicy
from clew.protocol.events import ModelRow

OVERLOADS_BEFORE_FALLBACK = 3


class NoModel(Exception):
    """No model is configured; the words say how to connect one."""


def connector(workspace: Workspace) -> Callable[[str], Model]:
    """How a name becomes a model in this workspace. With a fallback, overload is not waited out."""
    settings = workspace.settings
    retry = RetryPolicy(overload_limit=OVERLOADS_BEFORE_FALLBACK if settings.fallback_model else None)

    def connect_named(name: str) -> Model:
        return connect(name, providers=settings.providers, env=workspace.env, retry=retry)

    return connect_named


def check_fast_model(settings: Settings, connect_named: Callable[[str], Model]) -> None:
    """A name that means no model is told now; a key that is missing only leaves side queries out."""
    if settings.fast_model in ("", "none"):
        return
    with suppress(MissingCredential):
        connect_named(settings.fast_model)


def chosen_model(workspace: Workspace) -> str:
    """The configured model, else that of the first provider that has a key."""
    settings = workspace.settings
    name = settings.model or default_model(workspace.env, settings.providers)
    if not name:
        raise NoModel(
            "no model is configured: run `clew auth`, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or "
            "choose one with --model provider/model (a local server needs no key: --model ollama/NAME); see "
            "docs/models.md"
        )
    return name


async def listed_rows(workspace: Workspace) -> tuple[ModelRow, ...]:
    """Every model that can be named here; loaded by the first question."""
    from clew.host.model_rows import model_rows

    return await model_rows(workspace.env, workspace.settings.providers)
