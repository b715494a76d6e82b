"""What a middleware is: it looks before each step, may add events, may stop the turn."""

from collections.abc import Iterable
from typing import Protocol

from clew.engine.turn import Turn
from clew.protocol.events import Event


class Middleware(Protocol):
    """Raises `TurnStopped` to end the turn; what it returns is yielded before the step."""

    async def before_step(self, turn: Turn) -> Iterable[Event]:
        """Called before every request, the first included."""
        ...
