"""Which agent writes which transcript: the first to see an event, so that what is shown is on disk before."""

from collections.abc import Callable

import msgspec

from clew.protocol.entries import KnownEntry, LastPromptEntry, SessionStateEntry
from clew.protocol.events import (
    Answered,
    CompactionEnded,
    Event,
    PromptAccepted,
    Rewound,
    ShellEnded,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.state import AgentState, SessionState, agent_after, session_state
from clew.transcript.conversation import Conversation
from clew.transcript.errors import LeaseLost
from clew.transcript.recording import entries_of
from clew.transcript.stamp import Stamp
from clew.transcript.writer import TranscriptSink

Place = tuple[str, str]
"""A directory, and the branch checked out there."""


class AgentLog:
    """The transcript of one agent, with the fold of what stands in it."""

    def __init__(
        self,
        conversation: Conversation,
        sink: TranscriptSink,
        stamp: Stamp,
        *,
        state: AgentState | None = None,
        place: Callable[[], Place] | None = None,
    ) -> None:
        """`place` tells where the agent is now; entries follow it."""
        self.conversation = conversation
        self.stamp = stamp
        self.state: AgentState = state or AgentState()
        self._sink = sink
        self._place = place

    def take(self, event: Event) -> None:
        """Write what keeps the event, then count it. Raises LeaseLost."""
        if self._place is not None and isinstance(event, PromptAccepted | ToolEnded | ShellEnded):
            self.stamp.cwd, self.stamp.git_branch = self._place()
        prompt = self.conversation.system_prompt if hides_the_past(event) else None
        for entry in entries_of(event, self.stamp):
            self.conversation.append(entry)
        self.state = agent_after(event, self.state)
        if prompt is not None:
            self.keep(msgspec.structs.replace(prompt, **self.stamp.keyed()))
        if isinstance(event, TurnEnded) or hides_the_past(event):
            self._sum_up()
        if must_be_synced(event):
            self._sink.sync()

    def keep(self, entry: KnownEntry) -> None:
        """A line that comes from no event."""
        self.conversation.append(entry)

    def unsaved(self) -> int:
        """How many lines are not on disk, after one more try."""
        return self._sink.unsaved()

    def close(self) -> None:
        """Write everything and let go."""
        self._sink.close()

    def _sum_up(self) -> None:
        """The figures near the end of the file, where a reader of the tail finds them."""
        if self.state.last_prompt:
            self.keep(LastPromptEntry(last_prompt=self.state.last_prompt, **self.stamp.keyed()))
        self.keep(SessionStateEntry(state=self.state.figures(), **self.stamp.keyed()))


class Journal:
    """All transcripts of a session."""

    def __init__(self, main: AgentLog, *, on_lost: Callable[[str], None]) -> None:
        """`on_lost` is told once, in words, when another process has taken the session over."""
        self._logs: dict[AgentId, AgentLog] = {MAIN_AGENT: main}
        self._on_lost = on_lost
        self._lost = False
        self.main = main

    def open(self, agent: AgentId, log: AgentLog) -> None:
        """One more agent, with a transcript of its own."""
        self._logs[agent] = log

    @property
    def state(self) -> SessionState:
        """The states of all agents as one."""
        others = {agent: log.state for agent, log in self._logs.items() if agent != MAIN_AGENT}
        return session_state(self.main.state, others)

    def log(self, agent: AgentId) -> AgentLog:
        """The transcript of an agent."""
        return self._logs[agent]

    def record(self, agent: AgentId, event: Event) -> None:
        """Before anybody else sees it. After the session was lost nothing is written, and that is told once."""
        if self._lost:
            return
        try:
            self._logs[agent].take(event)
        except LeaseLost as lost:
            self._lost = True
            self._on_lost(str(lost))

    def let_go(self) -> None:
        """The session is handed over: nothing is written from here on."""
        self._lost = True
        self.close()

    def close(self) -> None:
        """Children first: their parent's end is the last line."""
        for log in reversed(list(self._logs.values())):
            log.close()


def hides_the_past(event: Event) -> bool:
    """Whether a reader of the file goes back no further than this: what requests begin with, and the figures, must
    stand behind it too."""
    return isinstance(event, CompactionEnded) or (
        isinstance(event, Rewound) and event.scope != "files" and event.to is None
    )


def must_be_synced(event: Event) -> bool:
    """The fsync policy: what a person said or decided, what is about to take effect, and the end of a turn survive a
    power cut (tests/unit/host/test_journal.py)."""
    match event:
        case PromptAccepted():
            return not event.hidden
        case ToolStarted():
            return event.effectful
        case Answered():
            return True
        case TurnEnded() | Rewound() | ShellEnded():
            return True
        case _:
            return False
