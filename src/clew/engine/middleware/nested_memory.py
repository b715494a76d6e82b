"""Memory files of directories the agent comes to: told once, when a tool first touches something there."""

from collections.abc import Callable, Iterable
from pathlib import Path

from clew.engine.intake import accept
from clew.engine.turn import Turn
from clew.protocol.events import Event
from clew.protocol.messages import AssistantMessage, tool_calls

PATH_ARGUMENTS = ("file_path", "notebook_path")


class NestedMemory:
    """`find` gives the words of memory files that apply to a path and were not told yet; empty when there are none."""

    def __init__(self, find: Callable[[Path], str], cwd: Path) -> None:
        self._find = find
        self._cwd = cwd
        self._seen: set[Path] = set()

    async def before_step(self, turn: Turn) -> Iterable[Event]:
        """Looks at the calls of the reply before."""
        replies = [message for message in turn.agent.messages[-3:] if isinstance(message, AssistantMessage)]
        events: list[Event] = []
        for path in touched(replies[-1], self._cwd) if replies else ():
            if path.parent in self._seen:
                continue
            self._seen.add(path.parent)
            if words := self._find(path):
                events.append(accept(turn, words, hidden=True))
        return events


def touched(reply: AssistantMessage, cwd: Path) -> Iterable[Path]:
    """The files that the calls of a reply name."""
    for call in tool_calls(reply.content):
        for name in PATH_ARGUMENTS:
            value = call.arguments.get(name)
            if isinstance(value, str) and value:
                yield cwd / value
