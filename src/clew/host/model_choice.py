"""Which model a session talks to: the one that is configured, and how any other name becomes one."""

from collections.abc import Callable
from contextlib import suppress

from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.llm.errors import MissingCredential
from clew.llm.model import Model
from clew.llm.models.connect import connect, default_model
from clew.llm.models.target import Target
from clew.llm.retry import RetryPolicy

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


def key_source(model: Model) -> str:
    """The variable that holds the key of a model, for whoever wants to know who pays; empty where none is used."""
    target = getattr(model, "target", None)
    return target.key_variable if isinstance(target, Target) and target.key else ""


def check_fast_model(settings: Settings, connect_named: Callable[[str], Model]) -> None:
    """A name that means no model is told now; a key that is missing only leaves side queries out."""
    if settings.fast_model in ("", "none"):
        return
    with suppress(MissingCredential):
        connect_named(settings.fast_model)


def check_thinking(request: SessionRequest, *models: Model | None) -> None:
    """A wish that a model cannot follow is told before anything is sent. Raises SettingsError."""
    wanted = request.thinking
    for model in models:
        if model is not None and wanted.mode == "disabled" and model.thinks == "always":
            raise SettingsError(cannot_stop_thinking(model))
        if model is not None and (wanted.mode == "enabled" or wanted.budget_tokens) and model.thinks == "never":
            request.tell("warning", f"{model.name} is not known to think, so it is not asked to")


def cannot_stop_thinking(model: Model) -> str:
    """Why a model is refused to somebody who wants it not to think."""
    return f"{model.name} cannot be kept from thinking (--thinking disabled); --effort low is the least"


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
