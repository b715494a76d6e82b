"""What a headless run came to: a fold over events, and the one result at the end."""

from typing import Any

import msgspec

from clew.protocol.events import (
    ApprovalResolved,
    Event,
    PartCompleted,
    PromptAccepted,
    ReplyWithdrawn,
    SessionStarted,
    ToolEnded,
    TurnEnded,
)
from clew.protocol.ids import EntryId
from clew.protocol.messages import TextPart
from clew.protocol.tally import ModelUse, Tally

SUBTYPES = {
    "completed": "success",
    "max_turns": "error_max_turns",
    "max_budget": "error_max_budget_usd",
}
ALL_REFUSED = "all_calls_refused"


class Outcome:
    """Everything the result needs; fed with every event of the main agent."""

    def __init__(self) -> None:
        self.tally = Tally()
        """Of this run alone."""
        self.session_id = ""
        self.ended: TurnEnded | None = None
        self.denials: list[ApprovalResolved] = []
        self._answer: dict[EntryId, str] = {}
        self._calls = 0
        self._refused = 0

    def feed(self, event: Event) -> None:
        """Take one event."""
        self.tally = self.tally.after(event)
        match event:
            case SessionStarted():
                self.session_id = event.session_id
            case PromptAccepted() if not event.continues:
                self._answer.clear()  # what was said before belongs to an earlier question
            case PartCompleted(part=TextPart(text=text)):
                self._answer[event.entry_id] = text
            case ReplyWithdrawn():
                for entry_id in event.entry_ids:
                    self._answer.pop(entry_id, None)
            case ToolEnded():
                self._answer.clear()  # the words before a call are no answer
                self._calls += 1
                self._refused += event.refused
            case ApprovalResolved(decision="deny"):
                self.denials.append(event)
            case TurnEnded():
                self.ended = event
            case _:
                pass

    @property
    def answer(self) -> str:
        """The words since the last call, over as many replies as the answer took."""
        return "".join(self._answer.values())

    @property
    def reason(self) -> str:
        """How the run ended, in one word."""
        if self.ended is None:
            return "model_error"
        all_refused = self._calls > 0 and self._refused == self._calls
        return ALL_REFUSED if self.ended.reason == "completed" and all_refused else self.ended.reason

    @property
    def exit_code(self) -> int:
        """0 success, 1 the run ended in an error, 130 interrupted."""
        return {"completed": 0, "interrupted": 130}.get(self.reason, 1)

    @property
    def error(self) -> str:
        """What went wrong, for a person; empty when nothing did."""
        if self.reason == ALL_REFUSED:
            return "no call of this run was allowed, so nothing was done"
        if self.ended is None or self.reason == "completed":
            return ""
        return self.ended.error or {"interrupted": "interrupted"}.get(self.reason, f"stopped: {self.reason}")

    def result(self) -> dict[str, Any]:
        """The result document."""
        ended = self.ended
        document: dict[str, Any] = {
            "type": "result",
            "subtype": SUBTYPES.get(self.reason, "error_during_execution"),
            "is_error": self.reason != "completed",
            "result": self.answer,
            "stop_reason": self.reason,
            "session_id": self.session_id,
            "duration_ms": ended.duration_ms if ended else 0,
            "duration_api_ms": self.tally.api_ms,
            "num_turns": ended.steps if ended else 0,
            "total_cost_usd": None if self.tally.unpriced else self.tally.cost_usd,
            "usage": msgspec.to_builtins(self.tally.usage),
            "modelUsage": {use.model: model_usage(use) for use in self.tally.models},
            "permission_denials": [
                {
                    "tool_name": denial.tool,
                    "tool_use_id": denial.call_id,
                    "subject": denial.subject,
                    "reason": denial.reason,
                }
                for denial in self.denials
            ],
        }
        if self.tally.side:
            document["side_queries"] = {
                use.purpose: {"requests": use.requests, "cost_usd": None if use.unpriced else use.cost_usd}
                for use in self.tally.side
            }
        if self.error:
            document["error"] = self.error
        return document


def model_usage(use: ModelUse) -> dict[str, Any]:
    """What one model used. No cost, not 0, when a price is unknown."""
    return {
        "inputTokens": use.usage.input_tokens,
        "outputTokens": use.usage.output_tokens,
        "cacheReadInputTokens": use.usage.cache_read_input_tokens,
        "cacheCreationInputTokens": use.usage.cache_creation_input_tokens,
        "requests": use.requests,
        "costUSD": None if use.unpriced else use.cost_usd,
    }
