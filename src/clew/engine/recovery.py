"""Withheld errors: what is tried before a failure is shown. Every recovery has a counter and a bound."""

from typing import Literal

from msgspec import Struct

from clew.engine.agent import Agent
from clew.engine.attempt import Attempt
from clew.engine.ports import Compactor
from clew.llm.errors import LLMError, Overloaded, PromptTooLong, StreamBroken
from clew.protocol.events import TurnEndReason
from clew.protocol.messages import tool_calls

RAISED_OUTPUT_TOKENS = 64_000
MAX_RESUMES = 3
RESUME_PROMPT = "Your last message was cut off at the output limit. Go on exactly where it stopped, without repeating."


class Accept(Struct, frozen=True):
    """The attempt stands. With `resume`, a hidden prompt asks the model to go on."""

    resume: bool = False


class Retry(Struct, frozen=True, kw_only=True):
    """Withdraw the attempt and ask again."""

    reason: str
    streaming: bool = True
    max_output_tokens: int | None = None
    warning: str = ""
    switched: bool = False


class GiveUp(Struct, frozen=True, kw_only=True):
    """Nothing more to try: the error is shown now, once."""

    reason: TurnEndReason
    error: str
    keep: bool = False
    """The attempt's parts are whole and stay in the conversation."""


Action = Accept | Retry | GiveUp


class Recovery:
    """Per turn, so that requests are bounded even when every recovery fires."""

    def __init__(self, agent: Agent, compactor: Compactor | None) -> None:
        self._agent = agent
        self._compactor = compactor
        self._compacted = False
        self._raised = False
        self._resumes = 0
        self._broken: Literal["no", "retried"] = "no"

    async def decide(self, attempt: Attempt) -> Action:
        """What to do with a finished attempt."""
        if attempt.error is not None:
            return await self._after_error(attempt.error)
        self._broken = "no"
        if attempt.done is not None and attempt.done.stop_reason == "max_tokens" and not has_whole_call(attempt):
            return self._after_output_limit(attempt)
        return Accept()

    async def _after_error(self, error: LLMError) -> Action:
        if isinstance(error, PromptTooLong):
            if self._compactor is not None and not self._compacted:
                self._compacted = True
                if await self._compactor.compact(self._agent, reason="prompt_too_long"):
                    return Retry(reason="compacted")
            return GiveUp(reason="prompt_too_long", error=str(error))
        fallback = self._agent.fallback
        if isinstance(error, Overloaded) and fallback is not None and fallback.name != self._agent.model.name:
            warning = f"{self._agent.model.name} is overloaded; going on with {fallback.name}"
            self._agent.use_model(fallback)
            return Retry(reason="overloaded", warning=warning, switched=True)
        if isinstance(error, StreamBroken) and self._broken == "no":
            self._broken = "retried"
            return Retry(reason="stream broken", streaming=False)
        return GiveUp(reason="model_error", error=str(error))

    def _after_output_limit(self, attempt: Attempt) -> Action:
        raised = min(RAISED_OUTPUT_TOKENS, self._agent.model.max_output_tokens)
        if not self._raised and self._agent.max_output_tokens is None:
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
