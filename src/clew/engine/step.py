"""One step: a model request, recovered where possible, and the tool calls it asked for."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from clew.engine.attempt import Attempt
from clew.engine.gate import PendingAnswers
from clew.engine.ports import ToolHost
from clew.engine.recovery import RESUME_PROMPT, Accept, GiveUp, Retry, RoomNeeded
from clew.engine.turn import ContextFull, Turn, TurnInterrupted, TurnStopped
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
