"""The one result of a turn, as the line that programs read."""

from typing import Any

import msgspec
from msgspec import UNSET

from clew.protocol.events import AgentEnded, ApprovalResolved
from clew.protocol.ids import new_uuid
from clew.protocol.outcome import TurnOutcome
from clew.protocol.tally import ModelUse
from clew.streaming.shapes.stream import AgentOutcome, Denial, ModelTotals, ResultLine, ResultSubtype, SideTotals

SUBTYPES: dict[str, ResultSubtype] = {
    "completed": "success",
    "max_turns": "error_max_turns",
    "max_budget": "error_max_budget_usd",
    "no_structured_output": "error_max_structured_output_retries",
}
"""By how the turn ended. A failure of the API is known by `is_error` and the words in `result`, not by a subtype."""


def result_of(outcome: TurnOutcome, *, context: Any = UNSET) -> ResultLine:
    """The one result of the turn."""
    ended, error = outcome.ended, outcome.error
    own = outcome.tally.usage - outcome.before.usage
    side = {
        use.purpose: SideTotals(requests=use.requests, cost_usd=None if use.unpriced else use.cost_usd)
        for use in outcome.tally.side
    }
    return ResultLine(
        session_id=outcome.session_id,
        uuid=new_uuid(),
        subtype="success" if outcome.api_failed else SUBTYPES.get(outcome.reason, "error_during_execution"),
        is_error=outcome.reason != "completed",
        result=f"API Error: {error}" if outcome.api_failed else outcome.answer,
        stop_reason=(outcome.stop_reason or "completed") if outcome.reason == "completed" else outcome.reason,
        terminal_reason=outcome.terminal_reason,
        num_turns=ended.steps if ended else 0,
        duration_ms=ended.duration_ms if ended else 0,
        duration_api_ms=outcome.tally.api_ms - outcome.before.api_ms,
        total_cost_usd=None if outcome.tally.unpriced else outcome.tally.cost_usd,
        usage=own,
        model_usage={use.model: _totals(outcome, use) for use in outcome.tally.models},
        permission_denials=tuple(_denied(outcome, denial) for denial in outcome.denials),
        errors=(error,) if error and not outcome.api_failed else (),
        error=error or UNSET,
        api_error_status=(ended and ended.status) or UNSET,
        agents=tuple(_agent(ended) for ended in outcome.agents.values()) or UNSET,
        structured_output=outcome.structured_output,
        side_queries=side or UNSET,
        context=context,
    )


def _agent(ended: AgentEnded) -> AgentOutcome:
    return AgentOutcome(
        id=ended.child,
        kind=ended.kind,
        task=ended.task,
        status=ended.standing,
        background=ended.background,
        total_tokens=ended.tally.tokens,
        total_cost_usd=None if ended.tally.unpriced else ended.tally.cost_usd,
        name=ended.name or UNSET,
        error=ended.error or UNSET,
    )


def _denied(outcome: TurnOutcome, denial: ApprovalResolved) -> Denial:
    return Denial(
        tool_name=denial.tool,
        tool_use_id=denial.call_id,
        tool_input=outcome.input_of(denial),
        subject=denial.subject,
        reason=denial.reason,
    )


def _totals(outcome: TurnOutcome, use: ModelUse) -> ModelTotals:
    window, max_output = outcome.models.get(use.model, (None, None))
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
    outcome = TurnOutcome()
    outcome.session_id, outcome.failure = session_id, error
    return result_of(outcome)


def told_result(outcome: TurnOutcome, text: str, *, error: str = "", context: Any = UNSET) -> ResultLine:
    """The result of a run that was answered without a turn: what was said, and what it cost if a model was asked."""
    outcome.failure = error
    return msgspec.structs.replace(
        result_of(outcome, context=context),
        subtype="error_during_execution" if error else "success",
        is_error=bool(error),
        result=text,
        stop_reason=None,
        terminal_reason="error" if error else "completed",
        errors=(error,) if error else (),
        error=error or UNSET,
    )
