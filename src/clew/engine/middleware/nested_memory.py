"""Memory files of directories the agent comes to: told once, when a tool first touches something there."""

from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

from clew.engine.middleware.base import Middleware
from clew.engine.turn import SettledCall, Turn
from clew.protocol.events import Event

PATH_ARGUMENTS = ("file_path", "notebook_path")


class NestedMemory(Middleware):
    """`find` gives the words of memory files that apply to a path and were not told yet; empty when there are none."""

    stage = -2

    def __init__(self, find: Callable[[Path], str], cwd: Path) -> None:
        self._find = find
        self._cwd = cwd
        self._seen: set[Path] = set()

    async def after_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Looks at the calls of the step."""
        for path in touched(turn.last.calls, self._cwd):
            if path.parent in self._seen:
                continue
            self._seen.add(path.parent)
            if words := self._find(path):
                yield turn.accept(words)


def touched(calls: Iterable[SettledCall], cwd: Path) -> Iterable[Path]:
    """The files that some calls name."""
    for settled in calls:
        for name in PATH_ARGUMENTS:
            value = settled.call.arguments.get(name)
            if isinstance(value, str) and value:
                yield cwd / value
