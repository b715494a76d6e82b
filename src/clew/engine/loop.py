"""One turn: steps until the model stops asking for tools, and each step: a request, recovered where possible, and its
calls. Every call settles, whatever happens."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from clew.engine.abort import Aborted, AbortReason, settle
from clew.engine.attempt import Attempt
from clew.engine.calls import Calls
from clew.engine.channel import EventChannel
from clew.engine.gate import Gate, PendingAnswers
from clew.engine.middleware.base import Middleware, Moment
from clew.engine.ports import ToolHost
from clew.engine.recovery import RESUME_PROMPT, Accept, GiveUp, Retry, RoomNeeded
from clew.engine.result_budget import ResultBudget
from clew.engine.turn import ContextFull, OpenCall, Prompt, RequestRefused, Turn, TurnInterrupted, TurnStopped
from clew.protocol.events import (
    AttemptEnded,
    AttemptOutcome,
    CompactionUndone,
    Event,
    ModelChanged,
    Notice,
    StepEnded,
    StepStarted,
    TurnEnded,
    TurnEndReason,
    TurnStarted,
)
from clew.protocol.ids import EntryId, new_entry_id


class StepRunner:
    """Runs steps of one agent."""

    def __init__(self, *, host: ToolHost, pending: PendingAnswers) -> None:
        self._host = host
        self.pending = pending

    async def run(self, turn: Turn) -> AsyncGenerator[Event]:
        """Events of one step. Afterwards the conversation holds the reply and its results in call order."""
        agent = turn.agent
        turn.steps += 1
        yield StepStarted(step=turn.steps, model=agent.model.name)
        retry = Retry(reason="first")
        while True:
            attempt = Attempt(agent=agent, host=self._host, pending=self.pending, abort=turn.abort)
            request = agent.request(max_output_tokens=retry.max_output_tokens)
            async with aclosing(attempt.run(request, whole=retry.whole)) as events:
                async for event in events:
                    yield event
            if attempt.aborted:
                turn.record(attempt)
                yield self._book(turn, attempt, "interrupted")
                raise TurnInterrupted
            action = turn.recovery.decide(attempt)
            stands = isinstance(action, Accept) or (isinstance(action, GiveUp) and action.keep)
            if not stands or attempt.kept:
                withdrawn = attempt.withdrawn("stream broken" if stands else getattr(action, "reason", "too long"))
                if withdrawn is not None:
                    yield withdrawn
            yield self._book(turn, attempt, outcome_of(attempt, stands=stands))
            if isinstance(action, RoomNeeded):
                raise ContextFull(action.error, about_media=action.about_media)
            if isinstance(action, Accept | Retry) and action.warning:
                yield Notice(level="warning", text=action.warning, code="fallback" if action.switched_from else "kept")
            if isinstance(action, Accept | Retry) and action.switched_from is not None:
                await action.switched_from.close()
                yield ModelChanged(model=agent.model.name, reason="overloaded")
            if stands:
                turn.record(attempt)
            if isinstance(action, GiveUp) and action.refused:
                raise RequestRefused(action.error, status=action.status)
            if isinstance(action, GiveUp):
                raise TurnStopped(action.reason, action.error, status=action.status, retry_after_s=action.retry_after_s)
            if isinstance(action, Accept):
                break
            retry = action
        yield StepEnded(step=turn.steps, stop_reason=turn.last.stop_reason)
        if action.resume:
            turn.unanswered = True
            yield turn.accept(RESUME_PROMPT, origin="clew", continues=True)

    async def reopen(self, turn: Turn, opened: tuple[OpenCall, ...]) -> AsyncGenerator[Event]:
        """Events of calls that were announced by a process that is gone: each gets its one result now. A stop is
        noticed by whatever the turn does next."""
        channel = EventChannel()
        gate = Gate(host=self._host, pending=self.pending, channel=channel, abort=turn.abort, agent=turn.agent.id)
        calls = Calls(
            tools=turn.agent.tools,
            host=self._host,
            gate=gate,
            channel=channel,
            budget=ResultBudget(self._host.results_dir),
        )

        calls.whole.set()

        async def work() -> None:
            try:
                for one in opened:
                    calls.start(calls.reserve(one.call, one.entry_id))
                await turn.abort.guard(calls.drain())
            except Aborted:
                await calls.cancel("interrupted", answer=True)
            finally:
                channel.close()

        working = asyncio.create_task(work())
        try:
            async for event in channel.drain():
                yield event
            await working
        finally:
            await settle(working, *(slot.task for slot in calls.slots if slot.task is not None))

    def _book(self, turn: Turn, attempt: Attempt, outcome: AttemptOutcome) -> AttemptEnded:
        ended = attempt.ended(turn.steps, outcome)
        turn.own = turn.own.after(ended)
        return ended


def outcome_of(attempt: Attempt, *, stands: bool) -> AttemptOutcome:
    """What became of a request."""
    if attempt.kept:
        return "kept"
    if stands:
        return "completed"
    return "withdrawn" if attempt.parts or attempt.done is not None else "failed"


INTERRUPTED: dict[AbortReason, str] = {
    "interrupt": "[Request interrupted by user]",
    "closed": "[The session was closed before the reply was complete.]",
    "taken_over": "[The session was taken over by another process before the reply was complete.]",
}
"""What the conversation keeps of a stop; a denial is told by its call, a limit by the note about it."""

WAYS_ON = (
    "Ways on: /compact or /compact fast makes room, /clear begins anew, another model may have a larger window; "
    'without a screen: clew -c -p "/compact"'
)


async def run_turn(
    turn: Turn, prompt: Prompt, *, steps: StepRunner, middlewares: Sequence[Middleware]
) -> AsyncGenerator[Event]:
    """One turn. Whether to go on is decided by tool calls alone, never by the stop reason."""
    yield TurnStarted(turn=turn.number)
    try:
        async for event in joining(turn, prompt, steps):
            yield event
    except TurnStopped as stop:
        yield ended(turn, *stopped(turn, stop), noted=False)
        return
    try:
        while True:
            async for event in passing(turn, middlewares, "before_step"):
                yield event
            try:
                async with aclosing(steps.run(turn)) as events:
                    async for event in events:
                        yield event
            except (ContextFull, RequestRefused) as full:
                async for event in make_room(turn, full, middlewares):
                    yield event
                continue
            turn.left_out.clear()
            async for event in passing(turn, middlewares, "after_step"):
                yield event
            if not turn.unanswered:
                async for event in passing(turn, middlewares, "before_end"):
                    yield event
            if not turn.unanswered:
                break
        (reason, error), failure = turn.ending(), None
    except TurnStopped as stop:
        (reason, error), failure = stopped(turn, stop), stop
        if (words := INTERRUPTED.get(turn.abort.reason or "limit")) and isinstance(stop, TurnInterrupted):
            yield turn.accept(words)
    yield ended(turn, reason, error, failure=failure)


async def joining(turn: Turn, prompt: Prompt, steps: StepRunner) -> AsyncGenerator[Event]:
    """What the turn is about. When that is not let in, or the turn is stopped before, nothing of it is kept."""
    try:
        if prompt.reopens:
            async with aclosing(steps.reopen(turn, prompt.reopens)) as events:
                async for event in events:
                    yield event
        async with aclosing(turn.first(prompt)) as events:
            async for event in events:
                yield event
    except Aborted:
        raise TurnInterrupted from None


async def passing(turn: Turn, middlewares: Sequence[Middleware], moment: Moment) -> AsyncGenerator[Event]:
    """Every middleware at this moment, in order, until the turn is stopped."""
    if turn.abort.thrown:
        raise TurnInterrupted
    for middleware in middlewares:
        events = middleware.at(moment, turn)
        if events is None:
            continue
        try:
            async with aclosing(turn.abort.guarded(events)) as guarded:
                async for event in guarded:
                    yield event
        except Aborted:
            raise TurnInterrupted from None


async def make_room(
    turn: Turn, full: ContextFull | RequestRefused, middlewares: Sequence[Middleware]
) -> AsyncGenerator[Event]:
    """Once per turn the middlewares may make the view smaller; compaction has no other entrance. Prompts that were left
    out in vain are back in it."""
    while turn.left_out:
        yield CompactionUndone(undone=turn.left_out.pop())
    turn.needs_room(full)
    async for event in passing(turn, middlewares, "before_step"):
        yield event
    if turn.full is not None:
        raise full


def stopped(turn: Turn, stop: TurnStopped) -> tuple[TurnEndReason, str]:
    """The reason of a turn that was stopped: by an error, or by whoever threw the switch."""
    if isinstance(stop, ContextFull) and not stop.about_media:
        return stop.reason, f"{stop.error.rstrip('.')}. {WAYS_ON}"
    if not isinstance(stop, TurnInterrupted):
        return stop.reason, stop.error
    if turn.abort.reason == "denial":
        return "stopped_by_denial", ""
    if turn.abort.reason == "limit":
        return "max_minutes", "stopped: the time limit of the session is reached"
    return "interrupted", ""


def ended(
    turn: Turn, reason: TurnEndReason, error: str, *, noted: bool = True, failure: TurnStopped | None = None
) -> TurnEnded:
    """The last event of the turn. `noted`: the conversation keeps the error. `failure`: what stopped it, with what the
    provider said."""
    noted = noted and bool(error)
    return TurnEnded(
        turn=turn.number,
        reason=reason,
        by="session" if reason == "interrupted" and turn.abort.reason in ("closed", "taken_over") else "",
        steps=turn.steps,
        duration_ms=turn.duration_ms,
        waited_ms=turn.waited_ms,
        usage=turn.own.usage if turn.own.models else None,
        cost_usd=turn.cost_usd,
        error=error,
        status=failure.status if failure is not None else None,
        retry_after_s=failure.retry_after_s if failure is not None else None,
        entry_id=new_entry_id() if noted else EntryId(""),
        parent_id=turn.agent.conversation.leaf if noted else None,
    )
