"""What the user typed while the agent worked joins at the step boundary, in the same turn."""

from collections.abc import Iterable

from clew.engine.intake import accept
from clew.engine.turn import Turn
from clew.protocol.events import Event


class Steering:
    """Drains the agent's inbox before a step."""

    async def before_step(self, turn: Turn) -> Iterable[Event]:
        """All of it, in the order typed."""
        events: list[Event] = []
        while turn.agent.inbox:
            events.append(accept(turn, turn.agent.inbox.popleft(), queued=True))
        return events
