"""Stands in for orientation until the first reply is there, so that its parts load after the first request."""

from collections.abc import Callable, Sequence
from typing import Protocol

from clew.host.session import Orientation
from clew.protocol.entries import Entry
from clew.protocol.events import Event, PartCompleted, ReplyWithdrawn, StepEnded, ToolEnded, TurnEnded


class FollowingOrientation(Orientation, Protocol):
    """Orientation that is fed with the log."""

    def feed(self, entry: Entry) -> None:
        """One more entry, old or new."""
        ...


class LateOrientation:
    """Stands in until the first reply is there: nothing of it is loaded on the way to the first request."""

    def __init__(self, load: Callable[[], FollowingOrientation], *, past: Sequence[Entry] = ()) -> None:
        self._load = load
        self._waiting: list[Entry] = list(past)
        self._early: list[Event] = []
        self._real: FollowingOrientation | None = None

    def feed(self, entry: Entry) -> None:
        """Kept until somebody is there to read it."""
        if self._real is None:
            self._waiting.append(entry)
        else:
            self._real.feed(entry)

    def after(self, event: Event) -> Sequence[Event]:
        """The end of a step or turn is when words are due."""
        if self._real is None:
            if not isinstance(event, StepEnded | TurnEnded):
                if isinstance(event, PartCompleted | ToolEnded | ReplyWithdrawn):
                    self._early.append(event)
                return ()
            real = self._awake()
            for early in self._early:
                real.after(early)
            self._early.clear()
        return self._awake().after(event)

    async def recap(self, *, model: bool) -> Event:
        """As asked."""
        return await self._awake().recap(model=model)

    async def close(self) -> None:
        """Nothing to stop if it was never needed."""
        if self._real is not None:
            await self._real.close()

    def _awake(self) -> FollowingOrientation:
        if self._real is None:
            self._real = self._load()
            for entry in self._waiting:
                self._real.feed(entry)
            self._waiting.clear()
        return self._real
