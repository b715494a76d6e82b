"""What tool calls get of their session: the directory in force, permissions, a place for long results."""

from collections.abc import Callable
from pathlib import Path

from clew.engine.ports import Ask
from clew.host.permits import Permits
from clew.permissions.access import Access, Verdict
from clew.protocol.ids import CallId
from clew.tools.base import ToolContext
from clew.tools.session import ToolSession


class SessionTools:
    """Joins the tools' session and the permits; the engine sees only this."""

    def __init__(self, session: ToolSession, permits: Permits) -> None:
        self._session = session
        self._permits = permits

    def context(self, call_id: CallId, progress: Callable[[str], None], ask: Ask) -> ToolContext:
        """A call starts in the directory the last command left."""
        return ToolContext(call_id=call_id, cwd=self._session.cwd, progress=progress, ask=ask)

    def judge(self, accesses: tuple[Access, ...]) -> Verdict:
        """By the rules and mode in force now."""
        return self._permits.judge(accesses)

    def remember(self, rules: tuple[str, ...]) -> None:
        """The user said "always"."""
        self._permits.remember(rules)

    @property
    def results_dir(self) -> Path | None:
        """None when the session keeps nothing on disk."""
        return self._session.results_dir
