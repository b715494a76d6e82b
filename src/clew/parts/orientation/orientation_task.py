"""Words for facts beside a session: behind its own task and boundary, so that a bug in a label never ends a turn."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from clew.protocol.entries import Entry
from clew.protocol.events import Event, Notice, StepEnded, TurnEnded

SETTLE_S = 2.0
"""How long closing waits for words that are being made."""


class Orientation(Protocol):
    """Labels, titles and recaps; loaded when the first step has ended, not before."""

    def feed(self, entry: Entry) -> None:
        """One more entry, old or new."""
        ...

    def reopened(self) -> None:
        """What was fed so far was written by a process that is gone."""
        ...

    def after(self, event: Event) -> Sequence[Event]:
        """What to publish after this event."""
        ...

    def recap(self, *, model: bool) -> AsyncIterator[Event]:
        """A recap now, or a notice why there is none; a model's words follow the facts."""
        ...

    def hurry(self) -> None:
        """Words in the making are not waited for any more."""
        ...

    async def words_for(self, path: Path) -> str:
        """A model's recap of another session of ours; "" where none may be written."""
        ...

    async def close(self, *, leaving: bool) -> None:
        """Stop background work. `leaving`: a little time may be taken to write what the next visit will show."""
        ...


class OrientationTask:
    """Hears everything, works when there is something to say, and tells at most once that it cannot."""

    def __init__(
        self,
        load: Callable[[], Orientation],
        *,
        past: Callable[[], Iterable[Entry]] | None,
        publish: Callable[[Event], None],
        log: Callable[[str], None],
    ) -> None:
        """`past`: the entries of processes before this one, oldest first; None for a new session."""
        self._load = load
        self._publish = publish
        self._log = log
        self._past = past
        self._waiting: deque[Entry | Event] = deque()
        self._turn = asyncio.Lock()
        self._closing = False
        self._real: Orientation | None = None
        self._task: asyncio.Task[None] | None = None
        self._told = False

    def hear(self, item: Entry | Event) -> None:
        """An entry that was written, or an event that was published."""
        self._waiting.append(item)
        if isinstance(item, StepEnded | TurnEnded) and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    async def recap(self, *, model: bool) -> AsyncIterator[Event]:
        """Where you are, now; what happened until now is looked at first."""
        try:
            await self._work()
            async for event in self._awake().recap(model=model):
                yield event
        except Exception as error:  # its own boundary
            yield self._failed(error)

    def hurry(self) -> None:
        """Somebody wants an end now: what is being made is given up."""
        if self._real is not None:
            self._real.hurry()

    async def words_for(self, path: Path) -> str:
        """A model's recap of another session, or "": its facts are shown anyhow."""
        try:
            return await self._awake().words_for(path)
        except Exception as error:  # its own boundary
            self._log(f"no recap of {path.name}: {type(error).__name__}: {error}")
            return ""

    async def close(self, *, leaving: bool = False) -> None:
        """Let it finish what is due, then stop it."""
        self._closing = True
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=SETTLE_S)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._real is not None:
            await self._real.close(leaving=leaving)

    async def _work(self) -> None:
        async with self._turn:
            if self._past is not None:
                past, self._past = self._past, None
                await self._guarded(lambda real: asyncio.to_thread(self._recall, past, real))
            while self._waiting:
                item = self._waiting.popleft()
                await self._guarded(lambda real, item=item: self._take(item, real))

    def _recall(self, past: Callable[[], Iterable[Entry]], real: Orientation) -> None:
        """In a thread: a long file must not hold up a session that has just been opened."""
        for entry in past():
            if self._closing:
                return
            real.feed(entry)
        real.reopened()

    async def _take(self, item: Entry | Event, real: Orientation) -> None:
        if isinstance(item, Entry):
            real.feed(item)
        else:
            for event in real.after(item):
                self._publish(event)

    async def _guarded(self, work: Callable[[Orientation], Awaitable[None]]) -> None:
        try:
            await work(self._awake())
        except Exception as error:  # its own boundary
            if not self._told:
                self._publish(self._failed(error))

    def _awake(self) -> Orientation:
        if self._real is None:
            self._real = self._load()
        return self._real

    def _failed(self, error: Exception) -> Notice:
        self._told = True
        self._log(f"orientation failed: {type(error).__name__}: {error}")
        return Notice(
            level="warning", text=f"labels and recaps are not to be had: {type(error).__name__}: {error}", code="orient"
        )
