"""One agent's log: the transcript it writes, with the fold of what stands in it."""

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from clew.llm.model import Model
from clew.protocol.entries import KnownEntry, LastPromptEntry, SessionStateEntry
from clew.protocol.events import (
    AgentEnded,
    Answered,
    CompactionEnded,
    Envelope,
    Event,
    PermissionModeChanged,
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    Rewound,
    SessionStarted,
    ShellEnded,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    WorktreeChanged,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, PromptId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.state import AgentState, agent_after
from clew.transcript.chain.conversation import Conversation
from clew.transcript.log.stamp import Stamp
from clew.transcript.log.writer import TranscriptSink
from clew.transcript.mapping.recording import entries_of

Place = tuple[str, str]
"""A directory, and the branch checked out there."""


class AgentLogs(Protocol):
    """The logs of all agents of a session."""

    @property
    def main(self) -> "AgentLog":
        """The main agent's."""
        ...

    def log(self, agent: AgentId) -> "AgentLog":
        """One agent's."""
        ...


class SessionPort(Protocol):
    """What agents, and what stands around their calls, need of their session."""

    @property
    def started(self) -> SessionStarted:
        """Which session it is."""
        ...

    @property
    def journal(self) -> AgentLogs:
        """What its agents have in their logs."""
        ...

    @property
    def closed(self) -> bool:
        """Nothing is published any more."""
        ...

    def publish(self, event: Event, *, agent: AgentId = MAIN_AGENT) -> None:
        """Record, then tell. Returns when the event is on disk, if it is durable."""
        ...

    def notice(self, level: Literal["info", "warning", "error"], text: str, *, code: str = "") -> None:
        """Tell people something that is not part of the conversation."""
        ...

    def retire(self, model: Model) -> None:
        """A model that nobody uses any more is closed with the session."""
        ...

    def subscribe_to_all(self, subscriber: Callable[[Envelope], None]) -> None:
        """Be told of every agent's events, each with its agent."""
        ...


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
        if self._place is not None and isinstance(event, PromptAccepted | ToolEnded | ShellEnded | WorktreeChanged):
            self.stamp.cwd, self.stamp.git_branch = self._place()
        prompt = self.conversation.system_prompt if hides_the_past(event) else None
        for entry in entries_of(self._recorded(event), self.stamp):
            self.conversation.append(entry)
        self.state = agent_after(event, self.state)
        if prompt is not None:
            self.keep(msgspec.structs.replace(prompt, **self.stamp.keyed()))
        if isinstance(event, TurnEnded) or hides_the_past(event):
            self._sum_up()
        if must_be_synced(event):
            self._sink.sync()

    def _recorded(self, event: Event) -> Event:
        """The event as the log keeps it: the ids of prompts matter there only where it has them as queued."""
        if isinstance(event, PromptAccepted) and not self._is_kept(event.prompt_id):
            return msgspec.structs.replace(event, prompt_id=PromptId(""))
        if isinstance(event, PromptWithdrawn):
            return msgspec.structs.replace(event, kept=self._is_kept(event.prompt_id))
        return event

    def _is_kept(self, prompt_id: PromptId) -> bool:
        return any(item.kept and item.prompt_id == prompt_id for item in self.state.queued)

    def keep(self, entry: KnownEntry) -> None:
        """A line that comes from no event."""
        self.conversation.append(entry)

    def note_mode(self, mode: str) -> None:
        """Write down the permission mode that the session began in: front ends know it, but no event told it."""
        self.take(PermissionModeChanged(mode=mode))

    def note_prompt(self, blocks: tuple[str, ...], **more: str) -> None:
        """Write down that requests begin with other blocks than the log says, where it says any; `more`: other fields
        of that line."""
        stored = self.conversation.system_prompt
        if stored is not None:
            self.keep(msgspec.structs.replace(stored, blocks=blocks, **more, **self.stamp.keyed()))

    def note_tools(self, told: tuple[ToolSpec, ...], digest: str) -> None:
        """Write down which tools of others the requests name from the first one on, where the log says any."""
        stored = self.conversation.system_prompt
        if stored is not None:
            self.keep(msgspec.structs.replace(stored, told=told, tools=digest, **self.stamp.keyed()))

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
        case PromptQueued():
            return event.kept
        case Answered():
            return True
        case TurnEnded() | Rewound() | ShellEnded() | AgentEnded() | WorktreeChanged():
            return True
        case _:
            return False
