"""Which agent writes which transcript: the first to see an event, so that what is shown is on disk before."""

from collections.abc import Callable

from clew.agents.log import AgentLog
from clew.protocol.events import Event
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.state import SessionState, session_state
from clew.transcript.errors import LeaseLost


class Journal:
    """All transcripts of a session."""

    def __init__(self, main: AgentLog, *, on_lost: Callable[[str], None]) -> None:
        """`on_lost` is told once, in words, when another process has taken the session over."""
        self._logs: dict[AgentId, AgentLog] = {MAIN_AGENT: main}
        self._ended: set[AgentId] = set()
        self._on_lost = on_lost
        self._lost = False
        self.main = main

    def open(self, agent: AgentId, log: AgentLog) -> None:
        """One more agent, with a transcript of its own."""
        self._logs[agent] = log

    @property
    def state(self) -> SessionState:
        """The states of all agents that have not ended as one."""
        over = {MAIN_AGENT, *self._ended}
        others = {agent: log.state for agent, log in self._logs.items() if agent not in over}
        return session_state(self.main.state, others)

    def log(self, agent: AgentId) -> AgentLog:
        """The transcript of an agent."""
        return self._logs[agent]

    def record(self, agent: AgentId, event: Event) -> None:
        """Before anybody else sees it. After the session was lost nothing is written, and that is told once."""
        if self._lost or agent in self._ended:
            return
        try:
            self._logs[agent].take(event)
        except LeaseLost as lost:
            self._lost = True
            self._on_lost(str(lost))

    def end(self, agent: AgentId) -> None:
        """An agent is done: nothing more is written to its transcript."""
        self._ended.add(agent)
        self._logs[agent].close()

    def let_go(self) -> None:
        """The session is handed over: nothing is written from here on."""
        self._lost = True
        self.close()

    def close(self) -> None:
        """Children first: their parent's end is the last line."""
        for agent, log in reversed(list(self._logs.items())):
            if agent not in self._ended:
                log.close()
