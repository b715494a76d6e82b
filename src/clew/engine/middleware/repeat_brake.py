"""Stops a model that makes the same call again and again: small local models do, for hours."""

from collections.abc import AsyncGenerator
from typing import Any

from clew.engine.middleware.base import Middleware
from clew.engine.turn import SettledCall, Turn, TurnStopped
from clew.protocol.events import Event

REMIND_AFTER = 3
STOP_AFTER = 6


class RepeatBrake(Middleware):
    """Counts calls in a row with the same input and the same result, with no effectful call between them. Tools that
    are meant to be asked again do not count."""

    stage = -1

    def __init__(self) -> None:
        self._last: tuple[Any, ...] | None = None
        self._count = 0

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """A reminder after three, the end of the turn after six."""
        if turn.steps == 1:
            self._last, self._count = None, 0
        before = self._count
        name = ""
        for settled in turn.last.calls:
            name = self._take(settled) or name
        if self._count >= STOP_AFTER:
            words = f"stopped: {name} was called {self._count} times in a row with the same input and the same result"
            raise TurnStopped("repeating", words)
        if before < REMIND_AFTER <= self._count:
            words = (
                f"[{name} was called {self._count} times in a row with the same input and gave the same result. "
                "Calling it again will not change that: do something else, or say what keeps you from going on.]"
            )
            yield turn.accept(words)

    def _take(self, settled: SettledCall) -> str:
        if settled.waits:
            return ""
        if settled.effectful:
            self._last, self._count = None, 0
            return ""
        now = (settled.call.name, settled.call.arguments, settled.result.content)
        self._count = self._count + 1 if now == self._last else 1
        self._last = now
        return settled.call.name
