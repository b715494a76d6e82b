"""One agent's log: the transcript it writes, with the fold of what stands in it; and what a person is told beside it
of what calls were refused or lost."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

import msgspec

from clew.engine.ports import CallChange
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
from clew.protocol.messages import ToolCallPart
from clew.protocol.state import AgentState, agent_after
from clew.tools.base import Tool, ToolResult
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


class OfferTelling:
    """One per session. The call itself goes on as it is: allowing takes effect with the next one."""

    def __init__(self) -> None:
        self.tell: Callable[[str, str], None] = _nobody
        """Gets the text and the code of a notice."""
        self._told: set[str] = set()

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """Nothing is changed."""
        return None

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        """Nothing is kept."""
        yield

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """The result is the model's; the offer is a person's."""
        for offer in result.offers:
            if offer.rule not in self._told:
                self._told.add(offer.rule)
                self.tell(
                    f"{offer.covers} was withheld because it may hold secrets. To let this project read it: "
                    f"/permissions allow {offer.rule}  (from a shell: clew permissions allow '{offer.rule}')",
                    "withheld",
                )
        for text in result.notices:
            self.tell(text, "sandbox")
        return result

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        """Nothing is added."""
        return result


def _nobody(text: str, code: str) -> None:
    """Until the session is there."""
