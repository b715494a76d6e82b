"""One switch that stops a turn at any moment."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

T = TypeVar("T")
AbortReason = Literal["interrupt", "denial"]


class Aborted(Exception):
    """Raised where work was waited for when the switch was thrown; the work itself is cancelled and gone."""


class Abort:
    """Thrown once per turn by an op; everything that waits goes through `guard`."""

    def __init__(self) -> None:
        self._thrown = asyncio.Event()
        self.reason: AbortReason | None = None

    def throw(self, reason: AbortReason = "interrupt") -> None:
        """Stop the turn. The first reason counts."""
        if self.reason is None:
            self.reason = reason
        self._thrown.set()

    @property
    def thrown(self) -> bool:
        """Whether the turn is to stop."""
        return self._thrown.is_set()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, or Aborted as soon as the switch is thrown; then `work` has been cancelled."""
        task = asyncio.ensure_future(work)
        watch = asyncio.ensure_future(self._thrown.wait())
        try:
            await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
            if task.done() and not self.thrown:
                return task.result()
            raise Aborted
        finally:
            await settle(task, watch)


async def settle(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel what still runs and wait until it is gone; a task's own failure is not raised here."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
