"""Charges commands in the background with what they changed, before a turn ends."""

from collections.abc import AsyncGenerator, Awaitable, Callable

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.protocol.events import Event


class LookAtEnd(Middleware):
    """Before a turn ends: a person who hears of its end may begin to edit, and that is no command's doing."""

    stage = 1

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look

    async def before_end(self, turn: Turn) -> AsyncGenerator[Event]:
        """Adds nothing to the turn."""
        await self._look()
        for event in ():
            yield event
