"""What one turn knows of itself; steps write it, middlewares read it. And how a turn can end before its time.

TurnStopped             with the reason that TurnEnded will carry
├── TurnInterrupted     the switch was thrown
├── PromptRefused       the prompt was not let in, so there is nothing to answer
└── ContextFull         the view must become smaller before the step can be tried again
"""

import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any

from msgspec import Struct

from clew.engine.abort import Abort, Aborted
from clew.engine.agent import Agent
from clew.engine.attempt import Attempt
from clew.engine.recovery import Recovery
from clew.llm.text_calls import find_text_calls
from clew.protocol.events import (
    Event,
    Notice,
    PromptAccepted,
    PromptOffered,
    PromptOrigin,
    PromptWithdrawn,
    TurnEndReason,
)
from clew.protocol.ids import MAIN_AGENT, EntryId, PromptId, TaskId, new_entry_id
from clew.protocol.messages import Part, ToolCallPart, ToolResultPart, text_of
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
    """The turn is over; `reason`, `error`, the provider's `status` and the wait it asks for go into TurnEnded."""

    def __init__(
        self,
        reason: TurnEndReason,
        error: str = "",
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(error or reason)
        self.reason: TurnEndReason = reason
        self.error = error
        self.status = status
        self.retry_after_s = retry_after_s


class TurnInterrupted(TurnStopped):
    """Somebody said stop."""

    def __init__(self) -> None:
        super().__init__("interrupted")


class PromptRefused(TurnStopped):
    """What was said did not join the conversation."""

    def __init__(self, error: str, reason: TurnEndReason = "stopped_by_hook") -> None:
        super().__init__(reason, error)


class ContextFull(TurnStopped):
    """The request does not fit the model's window."""

    def __init__(self, error: str, *, about_media: bool = False) -> None:
        """`about_media`: a picture or document was refused, not the length of the words."""
        super().__init__("prompt_too_long", error)
        self.about_media = about_media


class RequestRefused(TurnStopped):
    """The provider refused the request for something else than its length."""

    def __init__(self, error: str, *, status: int | None) -> None:
        super().__init__("model_error", error, status=status)


class OpenCall(Struct, frozen=True, kw_only=True):
    """A call that has no result, and the entry that holds it."""

    call: ToolCallPart
    entry_id: EntryId


class Prompt(Struct, frozen=True, kw_only=True):
    """Input on its way into the conversation."""

    content: Content
    prompt_id: PromptId = NO_PROMPT
    origin: PromptOrigin = "user"
    reopens: tuple["OpenCall", ...] = ()
    """Calls of the last reply that a process left without a result and that are made again before it joins."""
    expand: "Expand | None" = None
    """It is a slash name of the user's: what it stands for is made when it joins."""
    notices: "Callable[[], Notices] | None" = None
    """It tells of tasks that have ended: its words are made when it joins, so that they tell of all until then."""


class Notices(Struct, frozen=True, kw_only=True):
    """What a conversation is told of tasks that have ended."""

    content: str = ""
    """Empty: all of it was told already, so nothing joins."""
    tasks: tuple[TaskId, ...] = ()


class Expansion(Struct, frozen=True, kw_only=True):
    """What a slash name stands for."""

    content: Content = ""
    """Hidden words that join behind what was typed."""
    refused: str = ""
    """It could not be made whole, and why: nothing of it is sent."""


Expand = Callable[["Turn"], Coroutine[Any, Any, Expansion]]
"""Makes an expansion within a turn: it may ask a person for leave, and is cancelled when the turn is stopped."""


class PromptWord(Struct, frozen=True, kw_only=True):
    """What is thought of a prompt before it joins."""

    refused: str = ""
    """It does not join, and why."""
    context: str = ""
    """Hidden words that join with it."""


LET_IN = PromptWord()
Look = Callable[[Prompt], Coroutine[Any, Any, PromptWord] | None]
"""Looks at a prompt; None: nobody does."""


def let_in(prompt: Prompt) -> None:
    """Nobody looks at prompts."""


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
        inbox: deque[Prompt],
        aside: Callable[[], Aside | None] = lambda: None,
        look: Look = let_in,
    ) -> None:
        """`spent`: what the session used so far, this turn included. `inbox`: the input that waits.
        `aside`: the next thing that happened beside the turn and is to be told. `look`: what is thought of a prompt."""
        self.number = number
        self.agent = agent
        self.abort = abort
        self.recovery = Recovery(agent)
        self.spent = spent
        self.inbox = inbox
        self.aside = aside
        self._look = look
        self.steps = 0
        self.own = Tally()
        """What this turn used."""
        self.unanswered = False
        """The conversation ends with tool results or a hidden prompt that the model has yet to see."""
        self.joined: list[EntryId] = []
        """The input of this turn, in order."""
        self.last = StepRecord()
        self.effects = 0
        """Calls of this turn that may have changed something outside."""
        self.gave_output = False
        """It has all that was asked for: an output of a given shape, or a plan that nobody is there to accept."""
        self.full: ContextFull | RequestRefused | None = None
        """The last request did not fit, or was refused. Whoever made the view another one sets it to None."""
        self.left_out: list[EntryId] = []
        """What took prompts and results out of the view because the request was refused with them; emptied once a
        request without them was answered."""
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

    async def first(self, prompt: Prompt) -> AsyncGenerator[Event]:
        """What the turn is about joins, or is given back. Raises PromptRefused, or Aborted."""
        looking = self._look(prompt)
        try:
            word = await self.abort.guard(looking) if looking is not None else LET_IN
        except Aborted:
            for event in given_back(prompt):
                yield event
            raise
        if word.refused:
            for event in given_back(prompt):
                yield event
            raise PromptRefused(f"the prompt was not sent: {word.refused}")
        try:
            made = await self.abort.guard(prompt.expand(self)) if prompt.expand is not None else Expansion()
        except Aborted:
            for event in given_back(prompt):
                yield event
            raise
        if made.refused:
            for event in given_back(prompt):
                yield event
            raise PromptRefused(f"{text_of(prompt.content)} was not sent: {made.refused}", "not_sent")
        for event in self._joined(prompt, word, made):
            yield event

    async def queued(self) -> AsyncGenerator[Event]:
        """All that was said since joins, in order. What waits can be taken back until it has joined, and stays in the
        inbox when the turn is stopped meanwhile."""
        while self.inbox:
            prompt = self.inbox[0]
            looking = self._look(prompt)
            word = await looking if looking is not None else LET_IN
            made = Expansion(refused=word.refused)
            if prompt.expand is not None and not word.refused:
                made = await prompt.expand(self)
            if prompt not in self.inbox:
                continue
            self.inbox.remove(prompt)
            if made.refused:
                for event in given_back(prompt):
                    yield event
                text = f"what you said meanwhile was not sent: {made.refused}"
                yield Notice(level="warning", text=text, code="hook" if word.refused else "invocable")
                continue
            for event in self._joined(prompt, word, made, queued=True):
                yield event

    def _joined(
        self, prompt: Prompt, word: PromptWord, made: Expansion, *, queued: bool = False
    ) -> Iterator[PromptAccepted]:
        if prompt.notices is not None:
            told = prompt.notices()
            if told.content:
                yield self.accept(told.content, origin=prompt.origin, notices=told.tasks, queued=queued)
            return
        yield self.accept(prompt.content, origin=prompt.origin, prompt_id=prompt.prompt_id, queued=queued)
        if made.content:
            yield self.accept(made.content)
        if word.context:
            yield self.accept(word.context)

    def accept(
        self,
        content: Content,
        *,
        origin: PromptOrigin = "clew",
        prompt_id: PromptId = NO_PROMPT,
        continues: bool = False,
        queued: bool = False,
        notices: tuple[TaskId, ...] = (),
    ) -> PromptAccepted:
        """Input joins the conversation; yielding the event puts it on disk before anything is asked with it."""
        entry_id = new_entry_id()
        self.joined.append(entry_id)
        return PromptAccepted(
            entry_id=entry_id,
            parent_id=self.agent.conversation.leaf,
            content=content,
            origin=origin,
            hidden=origin in ("clew", "task") or (origin == "agent" and self.agent.id == MAIN_AGENT),
            continues=continues,
            queued=queued,
            prompt_id=prompt_id,
            notices=notices,
        )

    def needs_room(self, full: ContextFull | RequestRefused) -> None:
        """A request did not fit or was refused; the second time in one turn there is nothing more to try."""
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


def quiet_notice(told: Notices, leaf: EntryId | None) -> PromptAccepted:
    """Notices that join the conversation without a turn."""
    return PromptAccepted(
        entry_id=new_entry_id(),
        parent_id=leaf,
        content=told.content,
        origin="task",
        hidden=True,
        queued=True,
        notices=told.tasks,
    )


def given_back(prompt: Prompt) -> Iterator[Event]:
    """The words did not join: whoever typed them has them again."""
    yield PromptWithdrawn(prompt_id=prompt.prompt_id)
    if prompt.origin == "user" and (text := text_of(prompt.content)):
        yield PromptOffered(text=text)
