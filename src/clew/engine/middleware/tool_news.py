"""Tells the model, before a request, which tools can be searched for: a list first, later only what came and went."""

from collections.abc import AsyncGenerator

from clew.engine.middleware.base import Middleware
from clew.engine.turn import Turn
from clew.protocol.entries import Entry, UserEntry
from clew.protocol.events import Event
from clew.tools.deferred.tool_news import MAX_BYTES, Knowledge, by_source, is_note, news
from clew.tools.toolset import OWN_SOURCE, ToolSet


class ToolNews(Middleware):
    """Stands after whatever makes room, so that what left the view is told again in the same request."""

    stage = 5

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._seen: tuple[Entry, ...] = ()
        self._known = Knowledge()
        self._settled: tuple[int, int] = (-1, -1)

    async def before_step(self, turn: Turn) -> AsyncGenerator[Event]:
        """Only where what the model knows is not what is here."""
        self._read(turn.agent.conversation.chain())
        tools = turn.agent.tools
        if self._settled == (tools.changes, self._notes_seen):
            return
        words = news(self._known, here(tools), max_bytes=self._max_bytes)
        if words:
            yield turn.accept(words)
            self._read(turn.agent.conversation.chain())
        self._settled = (tools.changes, self._notes_seen)

    def _read(self, chain: tuple[Entry, ...]) -> None:
        """What the model was told, from what it sees now; only what is new is read, unless something was taken away."""
        done = len(self._seen)
        if len(chain) < done or (done and chain[done - 1] is not self._seen[-1]):
            self._known, done = Knowledge(), 0
            self._notes_seen = 0
        for entry in chain[done:]:
            if note := note_in(entry):
                self._known.after(note)
                self._notes_seen += 1
        self._seen = chain

    _notes_seen = 0


def note_in(entry: Entry) -> str:
    """The note that an entry is; only what the program itself wrote can be one."""
    if not isinstance(entry, UserEntry) or not entry.is_meta or entry.origin != "clew":
        return ""
    content = entry.message.content
    return content if isinstance(content, str) and is_note(content) else ""


def here(tools: ToolSet):
    """The deferred tools of servers, by their sources; clew's own are named by SearchTools itself."""
    return by_source((tool.source, tool.name) for tool in tools.deferred if tool.source != OWN_SOURCE)
