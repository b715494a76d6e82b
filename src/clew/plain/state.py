"""What the front end knows: a pure fold over the client's events, on top of the one all front ends share."""

from functools import singledispatch

from msgspec import Struct
from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.commands.deeds import Deed
from clew.commands.facts import facts_after
from clew.presentation.call_deeds import call_deeds
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    Envelope,
    EventBase,
    PartCompleted,
    QuestionAnswered,
    QuestionAsked,
    SessionStarted,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, RequestId
from clew.protocol.messages import ToolCallPart
from clew.protocol.state import Waiting

Asking = ApprovalRequested | ApprovalResolved | QuestionAsked | QuestionAnswered


class PlainState(Struct, frozen=True, kw_only=True):
    """Facts for commands, and what is open right now."""

    facts: SessionFacts = SessionFacts()
    calls: tuple[tuple[CallId, ToolCallPart], ...] = ()
    """Announced calls that have no result yet."""
    denied: dict[CallId, str] = {}
    """Calls of this turn that were not allowed, with the reason."""
    askers: dict[RequestId, AgentId] = {}
    """Which child agent asked."""
    turn_deeds: tuple[Deed, ...] = ()
    """What the calls of this turn came to."""

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What a person must answer, oldest first."""
        return self.facts.state.waiting

    @property
    def working(self) -> bool:
        """A turn runs."""
        return self.facts.state.working

    def call(self, call_id: CallId) -> ToolCallPart | None:
        """The announced call of this id, while it has no result."""
        return next((call for known, call in self.calls if known == call_id), None)


def fold(envelope: Envelope, state: PlainState) -> PlainState:
    """The state after this event. Of child agents only what they ask a person for matters here."""
    event = envelope.event
    if envelope.agent != MAIN_AGENT and not isinstance(event, Asking):
        return state
    if envelope.agent != MAIN_AGENT and isinstance(event, ApprovalRequested | QuestionAsked):
        state = replace(state, askers={**state.askers, event.request_id: envelope.agent})
    return _fold(event, replace(state, facts=facts_after(event, state.facts)))


@singledispatch
def _fold(event: EventBase, state: PlainState) -> PlainState:
    return state


@_fold.register
def _(event: SessionStarted, state: PlainState) -> PlainState:
    return PlainState(facts=state.facts)


@_fold.register
def _(event: TurnStarted, state: PlainState) -> PlainState:
    return replace(state, calls=(), denied={}, turn_deeds=())


@_fold.register
def _(event: PartCompleted, state: PlainState) -> PlainState:
    if not isinstance(event.part, ToolCallPart):
        return state
    return replace(state, calls=(*state.calls, (event.part.id, event.part)))


@_fold.register
def _(event: ToolEnded, state: PlainState) -> PlainState:
    call_id = event.result.call_id
    done = call_deeds(event, state.call(call_id), state.facts.cwd, denied=state.denied.get(call_id))
    calls = tuple(item for item in state.calls if item[0] != event.result.call_id)
    return replace(state, turn_deeds=(*state.turn_deeds, *done), calls=calls)


@_fold.register
def _(event: TurnEnded, state: PlainState) -> PlainState:
    return replace(state, calls=())


@_fold.register
def _(event: ApprovalResolved, state: PlainState) -> PlainState:
    if event.decision != "deny":
        return state
    return replace(state, denied={**state.denied, event.call_id: event.reason})
