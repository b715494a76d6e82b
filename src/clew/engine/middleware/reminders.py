"""What joins a conversation before its next request: what was typed or run while the agent worked, and hidden words
about what the user was shown and the model should know."""

from collections import deque
from collections.abc import AsyncGenerator

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.protocol.events import Event


class Reminders(Middleware):
    """Filled by whoever has something to say; each is said once."""

    stage = -1

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()

    def add(self, text: str) -> None:
        """Say this before the next request."""
        self._waiting.append(text)

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """All of them, in order."""
        while self._waiting:
            yield turn.accept(self._waiting.popleft())


class Steering(Middleware):
    """Drains the inbox before a step."""

    stage = -3

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """All of it, in the order typed; what the user's own commands printed comes before what was said since."""
        while (aside := turn.aside()) is not None:
            yield aside(turn.agent.conversation.leaf)
        async for event in turn.queued():
            yield event
