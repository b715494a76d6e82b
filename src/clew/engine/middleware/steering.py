"""What was typed, or run, while the agent worked joins at the step boundary, in the same turn."""

from collections.abc import AsyncGenerator

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.protocol.events import Event


class Steering(Middleware):
    """Drains the inbox before a step."""

    stage = -3

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """All of it, in the order typed; what the user's own commands printed comes before what was said since."""
        while (aside := turn.aside()) is not None:
            yield aside(turn.agent.conversation.leaf)
        async for event in turn.queued():
            yield event
