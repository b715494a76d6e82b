"""What one turn knows of itself; steps write it, middlewares read it. And how a turn can end before its time.

TurnStopped             with the reason that TurnEnded will carry
├── TurnInterrupted     the switch was thrown
└── ContextFull         the view must become smaller before the step can be tried again
"""

import time
from collections.abc import Callable

from msgspec import Struct

from clew.engine.abort import Abort
from clew.engine.agent import Agent
from clew.engine.attempt import Attempt
from clew.engine.recovery import Recovery
from clew.llm.text_calls import find_text_calls
from clew.protocol.events import Event, PromptAccepted, PromptOrigin, TurnEndReason
from clew.protocol.ids import EntryId, PromptId, new_entry_id
from clew.protocol.messages import Part, ToolCallPart, ToolResultPart
from clew.protocol.tally import Tally

Content = str | tuple[Part, ...]
NO_PROMPT = PromptId("")
ENDINGS: dict[str, tuple[TurnEndReason, str]] = {
    "refusal": ("refusal", "the model refused to answer"),
    "content_filter": ("content_filter", "the provider's content filter stopped the answer"),
    "model_context_window_exceeded": ("window_exceeded", "the model's window is full; start anew or make room"),
}
"""Stop reasons that are no answer, with what is told."""


class TurnStopped(Exception):
    """The turn is over; `reason` and `error` go into TurnEnded."""

    def __init__(self, reason: TurnEndReason, error: str = "") -> None:
        super().__init__(error or reason)
        self.reason: TurnEndReason = reason
        self.error = error


class TurnInterrupted(TurnStopped):
    """Somebody said stop."""

    def __init__(self) -> None:
        super().__init__("interrupted")


class ContextFull(TurnStopped):
    """The request does not fit the model's window."""

    def __init__(self, error: str, *, about_media: bool = False) -> None:
        """`about_media`: a picture or document was refused, not the length of the words."""
        super().__init__("prompt_too_long", error)
        self.about_media = about_media


class Prompt(Struct, frozen=True, kw_only=True):
    """Input on its way into the conversation."""

    content: Content
    prompt_id: PromptId = NO_PROMPT
    origin: PromptOrigin = "user"


Aside = Callable[[EntryId | None], Event]
"""Something that happened beside a turn, as the event that joins the conversation under this entry."""


class SettledCall(Struct, frozen=True, kw_only=True):
    """A call of the last step and what came of it."""

    call: ToolCallPart
    result: ToolResultPart
    effectful: bool
    refused: bool
    waits: bool


class StepRecord(Struct, frozen=True, kw_only=True):
    """The last step, as middlewares see it."""

    text: str = ""
    stop_reason: str = ""
    calls: tuple[SettledCall, ...] = ()


class Turn:
    """Counters of the running turn, and what it did so far."""

    def __init__(
        self,
        *,
        number: int,
        agent: Agent,
        abort: Abort,
        spent: Callable[[], Tally],
        waited_s: Callable[[], float],
        inbox: Callable[[], Prompt | None],
        aside: Callable[[], Aside | None] = lambda: None,
    ) -> None:
        """`spent`: what the session used so far, this turn included. `inbox`: the next input that waits, if any.
        `aside`: the next thing that happened beside the turn and is to be told."""
        self.number = number
        self.agent = agent
        self.abort = abort
        self.recovery = Recovery(agent)
        self.spent = spent
        self.inbox = inbox
        self.aside = aside
        self.steps = 0
        self.own = Tally()
        """What this turn used."""
        self.unanswered = False
        """The conversation ends with tool results or a hidden prompt that the model has yet to see."""
        self.last = StepRecord()
        self.effects = 0
        """Calls of this turn that may have changed something outside."""
        self.gave_output = False
        """It has the output of a given shape, which is all that was asked for."""
        self.full: ContextFull | None = None
        """The last request did not fit. Whoever made room sets it to None."""
        self._asked_for_room = False
        self._waited_s = waited_s
        self._waited_before_s = waited_s()
        self._started_s = time.monotonic()

    @property
    def waited_ms(self) -> int:
        """How long this turn waited for people."""
        return int((self._waited_s() - self._waited_before_s) * 1000)

    @property
    def duration_ms(self) -> int:
        """Since the turn began, without waiting for people."""
        return max(0, int((time.monotonic() - self._started_s) * 1000) - self.waited_ms)

    @property
    def cost_usd(self) -> float | None:
        """What this turn is known to have cost; None when no request of it has a price."""
        priced = any(use.requests > use.unpriced for use in self.own.models)
        return self.own.cost_usd if priced else None

    def accept(
        self,
        content: Content,
        *,
        origin: PromptOrigin = "clew",
        prompt_id: PromptId = NO_PROMPT,
        continues: bool = False,
        queued: bool = False,
    ) -> PromptAccepted:
        """Input joins the conversation; yielding the event puts it on disk before anything is asked with it."""
        return PromptAccepted(
            entry_id=new_entry_id(),
            parent_id=self.agent.conversation.leaf,
            content=content,
            origin=origin,
            hidden=origin == "clew",
            continues=continues,
            queued=queued,
            prompt_id=prompt_id,
        )

    def needs_room(self, full: ContextFull) -> None:
        """A request did not fit; the second time in one turn there is nothing more to try."""
        if self._asked_for_room:
            raise full
        self._asked_for_room, self.full = True, full

    def record(self, attempt: Attempt) -> None:
        """The attempt stands."""
        calls = tuple(
            SettledCall(
                call=slot.call,
                result=slot.result,
                effectful=slot.effectful and (slot.tool is not None and (slot.tool.shell or not slot.result.is_error)),
                refused=slot.refused,
                waits=slot.tool is not None and slot.tool.waits,
            )
            for slot in attempt.calls.slots
            if slot.result is not None
        )
        stop_reason = attempt.done.stop_reason if attempt.done is not None else ""
        self.last = StepRecord(text=attempt.text, stop_reason=stop_reason, calls=calls)
        self.effects += sum(call.effectful for call in calls)
        self.unanswered = bool(calls)

    def ending(self) -> tuple[TurnEndReason, str]:
        """How a turn that came to its end really ended: an answer, or something that must not pass for one."""
        if self.gave_output:
            return "completed", ""
        if self.last.stop_reason in ENDINGS:
            return ENDINGS[self.last.stop_reason]
        if find_text_calls(self.last.text, self.agent.tools.names):
            error = "the model wrote a tool call as text instead of making it; another model or server may do better"
            return "text_call", error
        if not self.last.text.strip() and not self.effects:
            return "empty_answer", "the model answered nothing; ask again, or try another model"
        return "completed", ""
