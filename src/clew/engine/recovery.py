"""Withheld errors: what is tried before a failure is shown. Every recovery has a counter and a bound."""

from msgspec import Struct

from clew.engine.agent import Agent
from clew.engine.attempt import Attempt
from clew.llm.errors import InvalidRequest, LLMError, MediaRefused, Overloaded, PromptTooLong, StreamBroken
from clew.llm.model import Model
from clew.protocol.events import TurnEndReason
from clew.protocol.messages import tool_calls

RAISED_OUTPUT_TOKENS = 64_000
MAX_RESUMES = 3
MAX_KEPT_IN_A_ROW = 5
RESUME_PROMPT = "Your last message was cut off at the output limit. Go on exactly where it stopped, without repeating."


class Accept(Struct, frozen=True, kw_only=True):
    """The attempt stands. With `resume`, a hidden prompt asks the model to go on."""

    resume: bool = False
    warning: str = ""
    switched_from: Model | None = None


class Retry(Struct, frozen=True, kw_only=True):
    """Withdraw the attempt and ask again."""

    reason: str
    whole: bool = False
    """Ask for the reply in one piece instead of a stream."""
    max_output_tokens: int | None = None
    warning: str = ""
    switched_from: Model | None = None


class RoomNeeded(Struct, frozen=True, kw_only=True):
    """The request does not fit the window: the view must become smaller first."""

    error: str
    about_media: bool = False


class GiveUp(Struct, frozen=True, kw_only=True):
    """Nothing more to try: the error is shown now, once."""

    reason: TurnEndReason
    error: str
    keep: bool = False
    """The attempt's parts are whole and stay in the conversation."""
    status: int | None = None
    """The HTTP status with which the provider failed, where there was one."""
    retry_after_s: float | None = None
    """How long the provider asks to wait, where it says so."""
    refused: bool = False
    """The provider does not want this request, whoever sends it how often."""


Action = Accept | Retry | RoomNeeded | GiveUp


class Recovery:
    """Per turn, so that requests are bounded even when every recovery fires."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._raised = False
        self._resumes = 0
        self._kept = 0
        self._asked_whole = False

    def decide(self, attempt: Attempt) -> Action:
        """What to do with a finished attempt."""
        if attempt.kept and attempt.error is not None:
            return self._after_effect(attempt.error)
        if attempt.error is not None:
            return self._after_error(attempt.error)
        self._asked_whole = False
        self._kept = 0
        if attempt.done is not None and attempt.done.stop_reason == "max_tokens" and not has_whole_call(attempt):
            return self._after_output_limit(attempt)
        return Accept()

    def _after_error(self, error: LLMError) -> Action:
        if isinstance(error, PromptTooLong):
            about_media = isinstance(error, MediaRefused) or error.status == 413
            return RoomNeeded(error=str(error), about_media=about_media)
        if isinstance(error, Overloaded) and (warning := self._fall_back()):
            words, left = warning
            return Retry(reason="overloaded", warning=words, switched_from=left)
        if isinstance(error, StreamBroken) and not self._asked_whole:
            self._asked_whole = True
            return Retry(reason="stream broken", whole=True)
        refused = isinstance(error, InvalidRequest)
        return GiveUp(
            reason="model_error",
            error=str(error),
            status=error.status,
            refused=refused,
            retry_after_s=error.retry_after_s,
        )

    def _after_effect(self, error: LLMError) -> Action:
        """Something happened that cannot be taken back: go on from there, with the other model if this one is gone."""
        self._kept += 1
        if self._kept > MAX_KEPT_IN_A_ROW:
            return GiveUp(
                reason="model_error",
                error=str(error),
                keep=True,
                status=error.status,
                retry_after_s=error.retry_after_s,
            )
        if isinstance(error, Overloaded) and (warning := self._fall_back()):
            words, left = warning
            return Accept(warning=words, switched_from=left)
        return Accept(warning=f"the reply broke off ({error}); what was done stays, going on from there")

    def _fall_back(self) -> tuple[str, Model] | None:
        """Use the fallback from now on; what to say, and the model that was left."""
        agent, fallback = self._agent, self._agent.fallback
        if fallback is None or fallback.name == agent.model.name:
            return None
        left = agent.model
        agent.fall_back(fallback)
        return f"{left.name} is overloaded; going on with {fallback.name}", left

    def _after_output_limit(self, attempt: Attempt) -> Action:
        raised = min(RAISED_OUTPUT_TOKENS, self._agent.model.max_output_tokens)
        if not self._raised and self._agent.max_output_tokens is None and not attempt.calls.committed:
            self._raised = True
            return Retry(reason="output limit", max_output_tokens=raised)
        if self._resumes < MAX_RESUMES and attempt.parts:
            self._resumes += 1
            return Accept(resume=True)
        error = "the answer was cut off at the model's output limit; ask it to go on, or raise maxOutputTokens"
        return GiveUp(reason="output_limit", error=error, keep=True)


def has_whole_call(attempt: Attempt) -> bool:
    """Whether the reply asks for a tool in a way that can be run; a call cut off by the limit cannot."""
    return any(call.raw_arguments is None for call in tool_calls(attempt.parts))
