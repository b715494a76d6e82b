"""The running step so far, for a front end that joins in the middle of it."""

from clew.host.connection import Droppable, joined
from clew.protocol.events import (
    AgentEnded,
    ArgumentsDelta,
    Envelope,
    Event,
    Notified,
    PartCompleted,
    ReasoningDelta,
    ReplyWithdrawn,
    ShellEnded,
    ShellProgress,
    StepStarted,
    TextDelta,
    ToolEnded,
    ToolProgress,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.state import AgentState, SessionState, session_state


class Replay:
    """What a front end that joins in the middle is told: the states of all agents, and the running step of each."""

    def __init__(self, main: AgentState | None = None) -> None:
        self._agents: dict[AgentId, AgentReplay] = {MAIN_AGENT: AgentReplay(main)}

    @property
    def state(self) -> SessionState:
        """The fold before the events kept here, so that folding them gives the state of now."""
        children = {agent: kept.state for agent, kept in self._agents.items() if agent != MAIN_AGENT}
        return session_state(self._agents[MAIN_AGENT].state, children)

    def take(self, envelope: Envelope, now: AgentState) -> None:
        """One more event; `now` is its agent's state with it."""
        self._agents.setdefault(envelope.agent, AgentReplay()).take(envelope, now)
        if isinstance(envelope.event, AgentEnded):
            self._agents.pop(envelope.event.child, None)

    def envelopes(self) -> list[Envelope]:
        """The running steps of all agents, in the order in which things happened."""
        return sorted((kept for agent in self._agents.values() for kept in agent.envelopes()), key=lambda one: one.seq)


class AgentReplay:
    """One agent's. `state` is the fold before the events kept here."""

    def __init__(self, state: AgentState | None = None) -> None:
        self.state: AgentState = state or AgentState()
        self._now = self.state
        self._kept: list[Envelope] = []
        self._turn: Envelope | None = None

    def take(self, envelope: Envelope, now: AgentState) -> None:
        """One more event; `now` is the fold with it."""
        before, self._now = self._now, now
        match envelope.event:
            case TurnStarted():
                self.state, self._turn, self._kept = before, envelope, []
            case StepStarted():
                self.state, self._kept = before, [envelope]
            case TurnEnded():
                self.state, self._turn, self._kept = now, None, []
            case _ if self._turn is None:
                self.state = now
            case Notified():
                pass  # told once, to who was there
            case _:
                self._keep(envelope)

    def envelopes(self) -> list[Envelope]:
        """The turn's start, then the step; words that grew are one piece."""
        return [*([self._turn] if self._turn is not None else []), *self._kept]

    def _keep(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, PartCompleted | ReplyWithdrawn | ToolEnded | ShellEnded):
            self._kept = [old for old in self._kept if not made_good(old.event, event)]
        merged = joined(self._kept[-1], envelope) if self._kept and isinstance(event, Droppable) else None
        if merged is not None:
            self._kept[-1] = merged
        else:
            self._kept.append(envelope)


def made_good(old: Event, new: PartCompleted | ReplyWithdrawn | ToolEnded | ShellEnded) -> bool:
    """Whether the new event holds, or takes back, what the old one only showed."""
    match old, new:
        case (TextDelta() | ReasoningDelta() | ArgumentsDelta(), PartCompleted()):
            return (old.reply_id, old.part) == (new.reply_id, new.part_number)
        case (TextDelta() | ReasoningDelta() | ArgumentsDelta(), ReplyWithdrawn()):
            return old.reply_id == new.reply_id
        case (ToolProgress(), ToolEnded()):
            return old.call_id == new.result.call_id
        case (ShellProgress(), ShellEnded()):
            return old.request_id == new.request_id
        case _:
            return False
