"""Which model a session talks to: the one that is configured, and how any other name becomes one."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from msgspec.structs import replace

from clew.config.errors import SettingsError
from clew.config.schema import Settings
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.llm.errors import MissingCredential
from clew.llm.model import Model
from clew.llm.models.connect import connect, default_model, target_of
from clew.llm.models.target import Target
from clew.llm.request import Thinking
from clew.llm.retry import RetryPolicy

OVERLOADS_BEFORE_FALLBACK = 3
THINKING_VARIABLE = "MAX_THINKING_TOKENS"
SMALL_WINDOW = 16_000
"""Tokens. Below that all tools and the whole prompt would take too much of it."""


class NoModel(Exception):
    """No model is configured; the words say how to connect one."""


def connector(workspace: Workspace) -> Callable[[str], Model]:
    """How a name becomes a model in this workspace. With a fallback, overload is not waited out."""
    settings = workspace.settings
    retry = RetryPolicy(overload_limit=OVERLOADS_BEFORE_FALLBACK if settings.fallback_model else None)

    def connect_named(name: str) -> Model:
        return connect(name, providers=settings.providers, env=workspace.env, retry=retry)

    return connect_named


def check_model(workspace: Workspace) -> None:
    """See that the configured model can be had, without making one. Raises NoModel, MissingCredential or
    UnknownModel."""
    target_of(chosen_model(workspace), providers=workspace.settings.providers, env=workspace.env)


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


def thinking_of(request: SessionRequest, env: Mapping[str, str], *models: Model | None) -> Thinking:
    """What was asked for, else what `MAX_THINKING_TOKENS` says, a variable of Claude Code: so many tokens, 0 for none.
    A value that cannot be followed is told and changes nothing."""
    wanted, text = request.thinking, env.get(THINKING_VARIABLE, "").strip()
    if not text or wanted.mode or wanted.budget_tokens:
        return wanted
    if not text.isdecimal():
        request.tell("warning", f"{THINKING_VARIABLE}={text}: expected a number of tokens; it is not used")
        return wanted
    if int(text):
        return replace(wanted, mode="enabled", budget_tokens=int(text))
    stubborn = next((model for model in models if model is not None and model.thinks == "always"), None)
    if stubborn is not None:
        request.tell("warning", f"{THINKING_VARIABLE}=0: {stubborn.name} cannot be kept from thinking")
        return wanted
    return replace(wanted, mode="disabled")


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


def is_small(window: int) -> bool:
    """Whether a session that starts with such a window needs the small set."""
    return window < SMALL_WINDOW


def small_words(model: Model, *, chosen: bool) -> str:
    """The line that tells a person. `chosen`: the tools are those that were asked for."""
    tools = "the tools you named" if chosen else "Read, Edit, Write, Bash and Grep only (--tools names others)"
    return f"{model.name} has a window of {model.window:,} tokens: a short prompt, and {tools}"
