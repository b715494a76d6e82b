"""The outbox: ends of background children on their way into their parent's conversation, exactly once.

The log is the outbox. `AgentEnded(background=True)` in the parent's log is what is to be told, `AgentState.owed` the
fold of what was not told yet, and the hidden prompt that names the children in its `notices` the receipt.
"""

import asyncio
from collections.abc import Callable

from clew.agents.log import AgentLogs
from clew.agents.report import notice_of
from clew.agents.runner import AgentRunner
from clew.engine.turn import Aside, Notices, Prompt, quiet_notice
from clew.protocol.events import AgentEnded, PromptAccepted
from clew.protocol.ids import AgentId, EntryId, TaskId
from clew.protocol.standing import Standing

MAX_TOGETHER = 20
"""Ends that one message tells of; more of them are told by the next."""


class Outbox:
    """One per session. Nothing is kept here but who has a notice in its inbox already."""

    def __init__(
        self, logs: Callable[[], AgentLogs], runner: Callable[[AgentId], AgentRunner | None], *, wake: bool = True
    ) -> None:
        """`runner`: an agent's, while it takes anything. `wake`: a settled child starts a turn of an idle parent."""
        self._logs = logs
        self._runner = runner
        self._wake = wake
        self._queued: set[AgentId] = set()
        self._closed = False

    def close(self) -> None:
        """The session ends: what is owed stays owed, in the log."""
        self._closed = True

    def send(self, parent: AgentId, *, quietly: bool = False) -> None:
        """Let what is owed to this agent join: at its next step while it works; by a turn of its own when it is idle,
        unless a person stopped it or `quietly` is meant, or nobody is to be woken: then with the next turn."""
        runner = self._runner(parent)
        if self._closed or runner is None or runner.closed or parent in self._queued or not self._owed(parent):
            return
        stopped = self._logs().log(parent).state.standing is Standing.STOPPED
        if self._wake and not quietly and (runner.working or not stopped):
            self._queued.add(parent)
            runner.submit(Prompt(content="", origin="task", notices=lambda: self._take(parent)))
        else:
            self._queued.add(parent)
            runner.join(self._aside(parent), now=not quietly)

    def _owed(self, parent: AgentId) -> tuple[AgentEnded, ...]:
        return self._logs().log(parent).state.owed

    def _take(self, parent: AgentId) -> Notices:
        """What is owed at the moment of joining, as one message."""
        self._queued.discard(parent)
        owed = self._owed(parent)
        if len(owed) > MAX_TOGETHER:
            asyncio.get_running_loop().call_soon(self.send, parent)
        told = owed[:MAX_TOGETHER]
        return Notices(
            content="\n".join(notice_of(end) for end in told), tasks=tuple(TaskId(end.child) for end in told)
        )

    def _aside(self, parent: AgentId) -> Aside:
        def told(leaf: EntryId | None) -> PromptAccepted:
            return quiet_notice(self._take(parent), leaf)

        return told
