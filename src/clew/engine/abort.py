"""One switch that stops a turn at any moment."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import aclosing, contextmanager
from typing import Any, Literal, TypeVar

T = TypeVar("T")
AbortReason = Literal["interrupt", "denial", "limit", "closed", "taken_over"]


class Aborted(Exception):
    """Raised where work was waited for when the switch was thrown; the work itself is cancelled and gone."""


class Abort:
    """Thrown once per turn; everything a turn waits for goes through `guard` or `guarded`."""

    def __init__(self) -> None:
        self.reason: AbortReason | None = None
        self._waiting: dict[asyncio.Task[Any], int] = {}

    def throw(self, reason: AbortReason = "interrupt") -> None:
        """Stop the turn. The first reason counts."""
        if self.reason is not None:
            return
        self.reason = reason
        running = asyncio.current_task()
        for task in self._waiting:
            if task is not running:  # whoever throws it itself comes to the next guard by itself
                task.cancel()

    @property
    def thrown(self) -> bool:
        """Whether the turn is to stop."""
        return self.reason is not None

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, or Aborted as soon as the switch is thrown; then `work` has been cancelled."""
        if self.thrown:
            work.close()
            raise Aborted
        with self._scope():
            return await work

    async def guarded(self, events: AsyncGenerator[T]) -> AsyncGenerator[T]:
        """All of `events`, until the switch is thrown; what was produced by then is still given."""
        async with aclosing(events):
            while True:
                if self.thrown:
                    raise Aborted
                with self._scope():
                    try:
                        event = await anext(events)
                    except StopAsyncIteration:
                        return
                yield event

    @contextmanager
    def _scope(self) -> Generator[None]:
        """While this is open a throw cancels the task inside it, and the cancellation comes out as Aborted."""
        task = asyncio.current_task()
        assert task is not None
        earlier = task.cancelling()
        self._waiting[task] = self._waiting.get(task, 0) + 1
        try:
            yield
        except asyncio.CancelledError:
            if self.thrown and task.uncancel() <= earlier:
                raise Aborted from None
            raise
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]


async def settle(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel what still runs and wait until it is gone; a task's own failure is not raised here."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
