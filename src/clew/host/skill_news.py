"""Tells the model which skills came or went, before the first request of a turn; also where there were none."""

from collections.abc import AsyncGenerator, Callable

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.protocol.events import Event


class SkillNews(Middleware):
    """Words that join hidden, if there is anything to tell."""

    def __init__(self, news: Callable[[], str]) -> None:
        self._news = news

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Once for each turn."""
        if turn.steps == 0 and (words := self._news()):
            yield turn.accept(words)
