"""One step: a model request, recovered where possible, and the tool calls it asked for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from clew.engine.abort import Aborted, settle
from clew.engine.attempt import Attempt
from clew.engine.calls import Calls
from clew.engine.channel import EventChannel
from clew.engine.gate import Gate, PendingAnswers
from clew.engine.ports import ToolHost
from clew.engine.recovery import RESUME_PROMPT, Accept, GiveUp, Retry, RoomNeeded
from clew.engine.result_budget import ResultBudget
from clew.engine.turn import ContextFull, OpenCall, Turn, TurnInterrupted, TurnStopped
from clew.protocol.events import AttemptEnded, AttemptOutcome, Event, ModelChanged, Notice, StepEnded, StepStarted


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
            if isinstance(action, GiveUp):
                raise TurnStopped(action.reason, action.error, status=action.status)
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
