"""One step: a model request, recovered where possible, and the tool calls it asked for."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from clew.engine.approvals import PendingAnswers
from clew.engine.attempt import Attempt
from clew.engine.bounding import ResultBounds
from clew.engine.channel import EventChannel
from clew.engine.dispatch import Dispatcher
from clew.engine.errors import TurnInterrupted, TurnStopped
from clew.engine.gate import Gate
from clew.engine.intake import accept
from clew.engine.ports import ToolHost
from clew.engine.recovery import RESUME_PROMPT, Accept, GiveUp, Retry
from clew.engine.turn import Turn
from clew.protocol.events import (
    Event,
    ModelChanged,
    Notice,
    ReplyWithdrawn,
    StepEnded,
    StepStarted,
)
from clew.protocol.messages import UserMessage
from clew.tools.base import Tool


class StepRunner:
    """Runs steps of one agent with one set of tools."""

    def __init__(self, *, tools: Mapping[str, Tool[Any]], host: ToolHost, pending: PendingAnswers) -> None:
        self._tools = tools
        self._host = host
        self._pending = pending

    async def run(self, turn: Turn) -> AsyncGenerator[Event]:
        """Events of one step. Afterwards the conversation holds the reply and its results in call order."""
        agent = turn.agent
        turn.steps += 1
        yield StepStarted(agent=agent.id, step=turn.steps, model=agent.model.name)
        retry = Retry(reason="first")
        while True:
            request = agent.request(max_output_tokens=retry.max_output_tokens)
            attempt = self._attempt(turn)
            async with aclosing(attempt.run(request, streaming=retry.streaming)) as events:
                async for event in events:
                    yield event
            if attempt.aborted:
                self._commit(turn, attempt)
                raise TurnInterrupted if turn.abort.reason != "denial" else TurnStopped("stopped_by_denial")
            action = await turn.recovery.decide(attempt)
            if isinstance(action, Accept):
                break
            if (attempt.entries() or attempt.shown) and not (isinstance(action, GiveUp) and action.keep):
                yield withdrawn(turn, attempt, "failed" if isinstance(action, GiveUp) else action.reason)
            if isinstance(action, GiveUp):
                if action.keep:
                    self._commit(turn, attempt)
                    yield self._ended(turn, attempt)
                raise TurnStopped(action.reason, action.error)
            if action.warning:
                yield Notice(agent=agent.id, level="warning", text=action.warning, code="fallback")
            if action.switched:
                yield ModelChanged(agent=agent.id, model=agent.model.name, reason=action.reason)
            retry = action
        self._commit(turn, attempt)
        yield self._ended(turn, attempt)
        if action.resume:
            turn.unanswered = True
            yield accept(turn, RESUME_PROMPT, hidden=True)

    def _attempt(self, turn: Turn) -> Attempt:
        bounds = ResultBounds(self._host.results_dir)

        def make_dispatcher(channel: EventChannel) -> Dispatcher:
            gate = Gate(agent=turn.agent.id, host=self._host, pending=self._pending, channel=channel, abort=turn.abort)
            return Dispatcher(
                agent=turn.agent.id,
                tools=self._tools,
                host=self._host,
                gate=gate,
                channel=channel,
                bounds=bounds,
            )

        return Attempt(agent=turn.agent.id, model=turn.agent.model, abort=turn.abort, make_dispatcher=make_dispatcher)

    def _commit(self, turn: Turn, attempt: Attempt) -> None:
        """The reply and its results join the conversation; nothing of a withdrawn attempt ever does."""
        if attempt.parts:
            turn.agent.messages.append(attempt.message())
        results = attempt.dispatcher.results()
        turn.unanswered = bool(results)
        if results:
            turn.agent.messages.append(UserMessage(content=results))

    def _ended(self, turn: Turn, attempt: Attempt) -> StepEnded:
        done = attempt.done
        usage = done.usage if done else None
        cost = turn.agent.model.cost_usd(usage) if usage is not None else None
        turn.book(usage, cost)
        return StepEnded(
            agent=turn.agent.id,
            step=turn.steps,
            model=turn.agent.model.name,
            stop_reason=done.stop_reason if done else "",
            usage=usage,
            cost_usd=cost,
            api_ms=attempt.api_ms,
        )


def withdrawn(turn: Turn, attempt: Attempt, reason: str) -> ReplyWithdrawn:
    """The event that takes a failed attempt back."""
    return ReplyWithdrawn(
        agent=turn.agent.id, message_id=attempt.message_id, entry_ids=attempt.entries(), reason=reason
    )
