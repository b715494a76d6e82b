"""What a turn came to: a fold over events, and its one result."""

from typing import Any

import msgspec
from msgspec import UNSET

from clew.protocol.events import (
    ApprovalResolved,
    AttemptEnded,
    Event,
    PartCompleted,
    PlanAnswered,
    PlanProposed,
    PromptAccepted,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    SessionStarted,
    StructuredOutputReady,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import CallId, EntryId, MessageId, new_uuid
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import Json, TextPart, ToolCallPart, arguments_of
from clew.protocol.refused_calls import ALL_REFUSED, ALL_REFUSED_WORDS, RefusedCalls
from clew.protocol.stream import Denial, ModelTotals, ResultLine, ResultSubtype, SideTotals
from clew.protocol.tally import ModelUse, Tally

SUBTYPES: dict[str, ResultSubtype] = {
    "completed": "success",
    "max_turns": "error_max_turns",
    "max_budget": "error_max_budget_usd",
    "no_structured_output": "error_max_structured_output_retries",
}
TERMINAL_REASONS = {"model_error": "api_error", "stopped_by_hook": "stop_hook_prevented"}
"""Where readers know another word for why no further request was made."""
STRUCTURED_OUTPUT_TOOL = "StructuredOutput"


class Outcome:
    """Everything the result needs; fed with every event of the main agent. A new turn starts it anew, but for what the
    run has spent."""

    def __init__(self) -> None:
        self.tally = Tally()
        """Of this run alone."""
        self.session_id = ""
        self.ended: TurnEnded | None = None
        self.denials: list[ApprovalResolved] = []
        self.structured_output: Any = UNSET
        self.failure = ""
        """What kept the run from going on, where no turn could tell it."""
        self._models: dict[str, tuple[int, int]] = {}
        self._refusals = RefusedCalls()
        self._turn()

    def _turn(self) -> None:
        self.ended = None
        self.denials = []
        self.structured_output = UNSET
        self._before = self.tally
        self._answer: dict[EntryId, str] = {}
        self._inputs: dict[CallId, Json] = {}
        self._whole: MessageId | None = None
        self._stop_reason = ""
        self._aborted = "aborted_streaming"
        self._plan = ""
        """The plan that nobody was there to accept."""

    def feed(self, event: Event) -> None:
        """Take one event."""
        self.tally = self.tally.after(event)
        self._refusals.feed(event)
        match event:
            case SessionStarted():
                self.session_id = event.session_id
            case TurnStarted():
                self._turn()
            case PromptAccepted() if not event.continues:
                self._answer.clear()  # what was said before belongs to an earlier question
            case ToolEnded():
                self._settle(event)
            case ApprovalResolved(decision="deny"):
                self.denials.append(event)
            case StructuredOutputReady():
                self.structured_output = event.value
            case PlanProposed():
                self._plan = event.plan
            case PlanAnswered():
                self._plan = self._plan if event.by == "nobody" else ""
            case TurnEnded():
                self.ended = event
            case _:
                self._follow_reply(event)

    def _follow_reply(self, event: Event) -> None:
        match event:
            case ReplyBegan():
                self._models[event.model] = (event.window, event.max_output_tokens)
            case PartCompleted(part=TextPart(text=text)):
                self._answer[event.entry_id] = text
            case PartCompleted(part=ToolCallPart() as call):
                self._inputs[call.id] = arguments_of(meant_call(call))
            case ReplyReceived():
                self._whole = event.reply_id
                self._stop_reason = event.stop_reason
            case ReplyWithdrawn():
                for entry_id in event.entry_ids:
                    self._answer.pop(entry_id, None)
            case AttemptEnded(outcome="interrupted"):
                self._aborted = "aborted_tools" if event.reply_id == self._whole else "aborted_streaming"
            case _:
                pass

    def _settle(self, event: ToolEnded) -> None:
        self._answer.clear()  # the words before a call are no answer
        if event.name == STRUCTURED_OUTPUT_TOOL and not event.result.is_error:
            self.structured_output = self._inputs.get(event.result.call_id, {})

    @property
    def answer(self) -> str:
        """The words since the last call, over as many replies as the answer took; or the output that was asked for,
        or the plan that a turn in plan mode ended with."""
        if self.structured_output is not UNSET:
            return msgspec.json.encode(self.structured_output).decode()
        return "".join(self._answer.values()) or self._plan

    @property
    def reason(self) -> str:
        """How the run ended, in one word."""
        if self.failure or self.ended is None:
            return "error"
        return ALL_REFUSED if self._refusals.undid(self.ended) else self.ended.reason

    @property
    def terminal_reason(self) -> str:
        """Why no further request was made."""
        if self.failure or self.ended is None:
            return "error"
        if self.ended.reason == "interrupted":
            return self._aborted
        return TERMINAL_REASONS.get(self.ended.reason, self.ended.reason)

    @property
    def exit_code(self) -> int:
        """0 success, 1 the run ended in an error, 130 interrupted."""
        return {"completed": 0, "interrupted": 130}.get(self.reason, 1)

    @property
    def error(self) -> str:
        """What went wrong, for a person; empty when nothing did."""
        if self.failure or self.ended is None:
            return self.failure or "the session ended before the turn did"
        if self.reason == ALL_REFUSED:
            return ALL_REFUSED_WORDS
        if self.reason == "completed":
            return ""
        return self.ended.error or {"interrupted": "interrupted"}.get(self.reason, f"stopped: {self.reason}")

    def result(self, *, context: Any = UNSET) -> ResultLine:
        """The one result of the turn."""
        ended, error = self.ended, self.error
        own = self.tally.usage - self._before.usage
        side = {
            use.purpose: SideTotals(requests=use.requests, cost_usd=None if use.unpriced else use.cost_usd)
            for use in self.tally.side
        }
        return ResultLine(
            session_id=self.session_id,
            uuid=new_uuid(),
            subtype=SUBTYPES.get(self.reason, "error_during_execution"),
            is_error=self.reason != "completed",
            result=self.answer,
            stop_reason=(self._stop_reason or "completed") if self.reason == "completed" else self.reason,
            terminal_reason=self.terminal_reason,
            num_turns=ended.steps if ended else 0,
            duration_ms=ended.duration_ms if ended else 0,
            duration_api_ms=self.tally.api_ms - self._before.api_ms,
            total_cost_usd=None if self.tally.unpriced else self.tally.cost_usd,
            usage=own,
            model_usage={use.model: self._totals(use) for use in self.tally.models},
            permission_denials=tuple(map(self._denied, self.denials)),
            errors=(error,) if error else (),
            error=error or UNSET,
            structured_output=self.structured_output,
            side_queries=side or UNSET,
            context=context,
        )

    def _denied(self, denial: ApprovalResolved) -> Denial:
        return Denial(
            tool_name=denial.tool,
            tool_use_id=denial.call_id,
            tool_input=self._inputs.get(denial.call_id, {}),
            subject=denial.subject,
            reason=denial.reason,
        )

    def _totals(self, use: ModelUse) -> ModelTotals:
        window, max_output = self._models.get(use.model, (None, None))
        return ModelTotals(
            input_tokens=use.usage.input_tokens,
            output_tokens=use.usage.output_tokens,
            cache_read_input_tokens=use.usage.cache_read_input_tokens,
            cache_creation_input_tokens=use.usage.cache_creation_input_tokens,
            requests=use.requests,
            cost_usd=None if use.unpriced else use.cost_usd,
            context_window=window,
            max_output_tokens=max_output,
        )


def failed_result(error: str, *, session_id: str = "") -> ResultLine:
    """The result of a run that never came to a turn."""
    outcome = Outcome()
    outcome.session_id, outcome.failure = session_id, error
    return outcome.result()


def told_result(outcome: Outcome, text: str, *, error: str = "", context: Any = UNSET) -> ResultLine:
    """The result of a run that was answered without a turn: what was said, and what it cost if a model was asked."""
    outcome.failure = error
    return msgspec.structs.replace(
        outcome.result(context=context),
        subtype="error_during_execution" if error else "success",
        is_error=bool(error),
        result=text,
        stop_reason=None,
        terminal_reason="error" if error else "completed",
        errors=(error,) if error else (),
        error=error or UNSET,
    )
