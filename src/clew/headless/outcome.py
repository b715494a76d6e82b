"""What a headless run came to: a fold over events, and the one result at the end."""

from typing import Any

import msgspec

from clew.protocol.events import Event, PartCompleted, ReplyWithdrawn, SessionStarted, TurnEnded
from clew.protocol.ids import MessageId
from clew.protocol.messages import TextPart
from clew.protocol.tally import Tally

SUBTYPES = {
    "completed": "success",
    "max_turns": "error_max_turns",
    "max_budget": "error_max_budget_usd",
}


class Outcome:
    """Everything the result needs; fed with every event of the run."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.session_id = ""
        self.ended: TurnEnded | None = None
        self._answer: list[str] = []
        self._message: MessageId | None = None

    def feed(self, event: Event) -> None:
        """Take one event."""
        self.tally(event)
        match event:
            case SessionStarted():
                self.session_id = event.session_id
            case PartCompleted(part=TextPart(text=text)):
                if event.message_id != self._message:
                    self._answer = []
                self._message = event.message_id
                self._answer.append(text)
            case ReplyWithdrawn() if event.message_id == self._message:
                self._answer = []
            case TurnEnded():
                self.ended = event
            case _:
                pass

    @property
    def answer(self) -> str:
        """The words of the last reply."""
        return "".join(self._answer)

    @property
    def exit_code(self) -> int:
        """0 success, 1 the run ended in an error, 130 interrupted."""
        if self.ended is None:
            return 1
        return {"completed": 0, "interrupted": 130}.get(self.ended.reason, 1)

    def result(self) -> dict[str, Any]:
        """The result document."""
        ended = self.ended
        reason = ended.reason if ended else "model_error"
        document: dict[str, Any] = {
            "type": "result",
            "subtype": SUBTYPES.get(reason, "error_during_execution"),
            "is_error": reason != "completed",
            "result": self.answer,
            "stop_reason": reason,
            "session_id": self.session_id,
            "duration_ms": ended.duration_ms if ended else 0,
            "duration_api_ms": self.tally.api_ms,
            "num_turns": ended.steps if ended else 0,
            "total_cost_usd": self._cost(),
            "usage": msgspec.to_builtins(self.tally.usage),
            "modelUsage": {name: self._model_usage(name) for name in self.tally.models},
            "permission_denials": [
                {
                    "tool_name": denial.tool,
                    "tool_use_id": denial.call_id,
                    "subject": denial.subject,
                    "reason": denial.reason,
                }
                for denial in self.tally.denials
            ],
        }
        if self.tally.side_queries:
            document["side_queries"] = msgspec.to_builtins(self.tally.side_queries)
        if ended is not None and ended.error:
            document["error"] = ended.error
        return document

    def _cost(self) -> float | None:
        """None, not 0, when a price is unknown."""
        if any(totals.cost_usd is None for totals in self.tally.models.values()):
            return None
        return self.tally.cost_usd

    def _model_usage(self, name: str) -> dict[str, Any]:
        totals = self.tally.models[name]
        return {
            "inputTokens": totals.usage.input_tokens,
            "outputTokens": totals.usage.output_tokens,
            "cacheReadInputTokens": totals.usage.cache_read_input_tokens,
            "cacheCreationInputTokens": totals.usage.cache_creation_input_tokens,
            "requests": totals.requests,
            "costUSD": totals.cost_usd,
        }
