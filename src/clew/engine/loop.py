"""The loop: one turn is steps until the model stops asking for tools. Every call settles, whatever happens."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from clew.engine.agent import Content
from clew.engine.errors import TurnInterrupted, TurnStopped
from clew.engine.intake import accept
from clew.engine.middleware.base import Middleware
from clew.engine.step import StepRunner
from clew.engine.turn import Turn
from clew.protocol.events import Event, TurnEnded, TurnEndReason, TurnStarted

INTERRUPTED_TEXT = "[Request interrupted by user]"


async def run_turn(
    turn: Turn, prompt: Content, *, steps: StepRunner, middlewares: Sequence[Middleware]
) -> AsyncGenerator[Event]:
    """One turn. Whether to go on is decided by tool calls alone, never by the stop reason."""
    reason: TurnEndReason = "completed"
    error = ""
    yield TurnStarted(agent=turn.agent.id, turn=turn.number)
    yield accept(turn, prompt)
    try:
        while True:
            for middleware in middlewares:
                for event in await middleware.before_step(turn):
                    yield event
            async with aclosing(steps.run(turn)) as events:
                async for event in events:
                    yield event
            if not turn.unanswered:
                break
    except TurnStopped as stop:
        reason, error = stop.reason, stop.error
        if isinstance(stop, TurnInterrupted) and not turn.agent.inbox:
            yield accept(turn, INTERRUPTED_TEXT, hidden=True)
    yield TurnEnded(
        agent=turn.agent.id,
        turn=turn.number,
        reason=reason,
        steps=turn.steps,
        duration_ms=turn.duration_ms,
        usage=turn.usage,
        cost_usd=turn.cost_usd,
        error=error,
    )
