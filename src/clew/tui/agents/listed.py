"""Which agents the list in the footer holds: those in the background, and for a while those that have ended."""

from collections.abc import Mapping

from clew.presentation.story.activity import seconds
from clew.protocol.events import TaskRow
from clew.protocol.ids import AgentId, TaskId
from clew.protocol.state import SessionState

GRACE_S = 30.0
"""So long one that has ended and is not viewed stays in the list."""


class ListedAgents:
    """A projection of the session's tasks; all it keeps is what it saw running, since when, and until when those stay
    that ended. Times are the caller's."""

    def __init__(self) -> None:
        self._since_s: dict[TaskId, float] = {}
        """Those that were seen at work in the background, by their start."""
        self._took_s: dict[TaskId, float] = {}
        """How long those worked that have ended."""
        self._tokens: dict[TaskId, int] = {}
        """What each used when it was last seen at work."""
        self._until_s: dict[TaskId, float] = {}
        self._cleared: set[TaskId] = set()
        self.rows: tuple[TaskRow, ...] = ()
        """By their start."""

    def follow(self, state: SessionState, viewed: AgentId, now_s: float, *, wall_s: float = 0.0) -> None:
        """After every event and every change of what is viewed. `wall_s`: the time by which a log tells a start."""
        found = {row.task_id: row for row in state.all_tasks if row.kind == "agent" and row.background}
        for task_id, row in found.items():
            if row.standing.open:
                if self._took_s.pop(task_id, None) is not None:  # it goes on: a start of its own
                    del self._since_s[task_id]
                if task_id not in self._since_s:
                    self._since_s[task_id] = now_s - max(0.0, wall_s - seconds(row.since) if row.since else 0.0)
                one = state.of(AgentId(task_id))
                self._tokens[task_id] = (one.tally + one.children).tokens_so_far
                self._until_s.pop(task_id, None)
                self._cleared.discard(task_id)
            elif task_id in self._since_s:
                self._took_s.setdefault(task_id, now_s - self._since_s[task_id])
                if task_id == viewed:
                    self._until_s.pop(task_id, None)
                else:
                    self._until_s.setdefault(task_id, now_s + GRACE_S)
        for gone in self._since_s.keys() - found.keys():
            self._forget(gone)
        self.rows = tuple(found[task_id] for task_id in self._since_s if self._stays(found, task_id, now_s))

    @property
    def known(self) -> int:
        """How many are kept in mind."""
        return len(self._since_s)

    def _forget(self, task_id: TaskId) -> None:
        """The session does not tell of it any more."""
        for kept in (self._since_s, self._took_s, self._tokens, self._until_s):
            kept.pop(task_id, None)
        self._cleared.discard(task_id)

    def _stays(self, found: Mapping[TaskId, TaskRow], task_id: TaskId, now_s: float) -> bool:
        if task_id in self._cleared:
            return False
        return found[task_id].standing.open or self._until_s.get(task_id, now_s + 1) > now_s

    def clear(self, task_id: TaskId) -> None:
        """Leave one out that has ended."""
        self._cleared.add(task_id)

    def elapsed_s(self, task_id: TaskId, now_s: float) -> float:
        """For how long it works, or did."""
        return self._took_s.get(task_id, now_s - self._since_s.get(task_id, now_s))

    def tokens(self, task_id: TaskId) -> int:
        """What it used so far, or in all."""
        return self._tokens.get(task_id, 0)

    def next_expiry_s(self, now_s: float) -> float | None:
        """When the next one goes by itself."""
        shown = {row.task_id for row in self.rows}
        return min((at_s for task_id, at_s in self._until_s.items() if task_id in shown and at_s > now_s), default=None)
