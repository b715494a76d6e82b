"""Whether a session works, waits for somebody, or rests: what a host needs to know when it may hang up."""

from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    ElicitationAnswered,
    ElicitationRequested,
    Event,
    PlanAnswered,
    PlanProposed,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import PromptId, RequestId
from clew.protocol.stream import SessionActivity


class ActivityFold:
    """Tells each change once. It rests only when nothing waits to be taken up."""

    def __init__(self) -> None:
        self._now: SessionActivity = "idle"
        self._in_turn = False
        self._asked: set[RequestId] = set()
        self._queued: set[PromptId] = set()

    def after(self, event: Event) -> SessionActivity | None:
        """The new state, if this event changed it."""
        match event:
            case PromptQueued():
                self._queued.add(event.prompt_id)
            case PromptAccepted():
                self._queued.discard(event.prompt_id)
            case PromptWithdrawn():
                self._queued.discard(event.prompt_id)
            case TurnStarted():
                self._in_turn = True
            case TurnEnded():
                self._in_turn = False
                self._asked.clear()
            case ApprovalRequested() | QuestionAsked() | ElicitationRequested() | PlanProposed():
                self._asked.add(event.request_id)
            case ApprovalResolved() | QuestionAnswered() | ElicitationAnswered() | PlanAnswered():
                self._asked.discard(event.request_id)
            case _:
                return None
        state: SessionActivity = "running" if self._in_turn or self._queued else "idle"
        state = "requires_action" if self._asked else state
        if state == self._now:
            return None
        self._now = state
        return state
