"""What the front end knows: a pure fold over the client's events."""

from functools import singledispatch

from msgspec import Struct
from msgspec.structs import replace

from clew.commands.base import FileChange, ModelUse, SessionFacts, SideUse
from clew.protocol.display import DiffBlock, TerminalBlock
from clew.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    EventBase,
    ModelChanged,
    PartCompleted,
    PermissionModeChanged,
    QuestionAsked,
    RecapReady,
    SessionStarted,
    SideQueryBooked,
    StepEnded,
    StepStarted,
    TitleChanged,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ids import MAIN_AGENT, CallId
from clew.protocol.messages import ToolCallPart
from clew.protocol.usage import Usage

Waiting = ApprovalRequested | QuestionAsked


class PlainState(Struct, frozen=True, kw_only=True):
    """Figures for commands, and what is open right now."""

    facts: SessionFacts = SessionFacts()
    step: int = 0
    calls: tuple[tuple[CallId, ToolCallPart], ...] = ()
    """Announced calls that have no result yet."""
    waiting: tuple[Waiting, ...] = ()
    """What a person must answer, oldest first."""
    denied: dict[CallId, str] = {}
    """Calls of this turn that were not allowed, with the reason."""
    turn_files: tuple[FileChange, ...] = ()
    turn_commands: int = 0
    last_reason: str = ""
    """How the last turn ended."""
    ended: bool = False

    def call(self, call_id: CallId) -> ToolCallPart | None:
        """The announced call of this id, while it has no result."""
        return next((call for known, call in self.calls if known == call_id), None)


@singledispatch
def fold(event: EventBase, state: PlainState) -> PlainState:
    """The state after this event. Events that change nothing return the same object."""
    return state


@fold.register
def _(event: SessionStarted, state: PlainState) -> PlainState:
    facts = replace(
        state.facts,
        session_id=event.session_id,
        cwd=event.cwd,
        model=event.model,
        permission_mode=event.permission_mode,
        version=event.version,
        resumed=event.resumed,
    )
    return replace(state, facts=facts)


@fold.register
def _(event: TurnStarted, state: PlainState) -> PlainState:
    if event.agent != MAIN_AGENT:
        return state
    return replace(
        state, facts=replace(state.facts, working=True), step=0, calls=(), denied={}, turn_files=(), turn_commands=0
    )


@fold.register
def _(event: StepStarted, state: PlainState) -> PlainState:
    return replace(state, step=event.step) if event.agent == MAIN_AGENT else state


@fold.register
def _(event: PartCompleted, state: PlainState) -> PlainState:
    if not isinstance(event.part, ToolCallPart):
        return state
    return replace(state, calls=(*state.calls, (event.part.id, event.part)))


@fold.register
def _(event: ToolEnded, state: PlainState) -> PlainState:
    facts, turn_files = state.facts, state.turn_files
    ran = 0
    for block in event.display:
        if isinstance(block, DiffBlock) and not event.result.is_error:
            facts = replace(facts, files=with_change(facts.files, block))
            turn_files = with_change(turn_files, block)
        elif isinstance(block, TerminalBlock):
            ran += 1
    facts = replace(
        facts,
        calls=facts.calls + 1,
        failed_calls=facts.failed_calls + event.result.is_error,
        commands=facts.commands + ran,
    )
    calls = tuple(item for item in state.calls if item[0] != event.result.call_id)
    return replace(state, facts=facts, turn_files=turn_files, turn_commands=state.turn_commands + ran, calls=calls)


def with_change(files: tuple[FileChange, ...], block: DiffBlock) -> tuple[FileChange, ...]:
    """The list with this change added to its file's row; order of first change."""
    for index, known in enumerate(files):
        if known.path == block.path:
            summed = replace(known, added=known.added + block.added, removed=known.removed + block.removed)
            return (*files[:index], summed, *files[index + 1 :])
    fresh = FileChange(path=block.path, added=block.added, removed=block.removed, created=block.created)
    return (*files, fresh)


@fold.register
def _(event: StepEnded, state: PlainState) -> PlainState:
    models = with_use(state.facts.models, event)
    return replace(state, facts=replace(state.facts, steps=state.facts.steps + 1, models=models))


def with_use(models: tuple[ModelUse, ...], event: StepEnded) -> tuple[ModelUse, ...]:
    """The table with one more request of this model."""
    fresh = next((use for use in models if use.model == event.model), ModelUse(model=event.model))
    fresh = replace(
        fresh,
        requests=fresh.requests + 1,
        usage=fresh.usage + (event.usage or Usage()),
        cost_usd=fresh.cost_usd + (event.cost_usd or 0.0),
        unpriced=fresh.unpriced + (event.cost_usd is None),
    )
    if any(use.model == event.model for use in models):
        return tuple(fresh if use.model == event.model else use for use in models)
    return (*models, fresh)


@fold.register
def _(event: TurnEnded, state: PlainState) -> PlainState:
    if event.agent != MAIN_AGENT:
        return state
    facts = replace(
        state.facts, working=False, turns=state.facts.turns + 1, duration_ms=state.facts.duration_ms + event.duration_ms
    )
    # A question of an interrupted turn gets no answer event; what other agents ask stays open.
    waiting = tuple(item for item in state.waiting if item.agent != MAIN_AGENT)
    return replace(state, facts=facts, calls=(), waiting=waiting, last_reason=event.reason)


@fold.register(ApprovalRequested)
@fold.register(QuestionAsked)
def _(event: Waiting, state: PlainState) -> PlainState:
    if any(known.request_id == event.request_id for known in state.waiting):
        return state
    return replace(state, waiting=(*state.waiting, event))


@fold.register
def _(event: ApprovalResolved, state: PlainState) -> PlainState:
    waiting = tuple(item for item in state.waiting if item.request_id != event.request_id)
    facts, denied = state.facts, state.denied
    if event.decision == "deny":
        denied = {**denied, event.call_id: event.reason}
        facts = replace(facts, denials=(*facts.denials, f"{event.tool}: {event.subject}"))
    elif event.decision == "allow_always" and event.rule:
        facts = replace(facts, saved_rules=(*facts.saved_rules, event.rule))
    return replace(state, waiting=waiting, facts=facts, denied=denied)


@fold.register
def _(event: TitleChanged, state: PlainState) -> PlainState:
    return replace(state, facts=replace(state.facts, title=event.title))


@fold.register
def _(event: RecapReady, state: PlainState) -> PlainState:
    facts = state.facts
    greeted = facts.resumed and not facts.turns and not facts.recap
    why = "It was shown because the session was resumed." if greeted else "It was shown because you asked for it."
    return replace(state, facts=replace(facts, recap=event.text, recap_source=event.source, recap_why=why))


@fold.register
def _(event: SideQueryBooked, state: PlainState) -> PlainState:
    return replace(state, facts=replace(state.facts, side=with_side_query(state.facts.side, event)))


def with_side_query(side: tuple[SideUse, ...], event: SideQueryBooked) -> tuple[SideUse, ...]:
    """The table with one more call for this purpose. One call without a price makes the sum unknown."""
    rows = {use.purpose: use for use in side}
    known = rows.get(event.purpose, SideUse(purpose=event.purpose, cost_usd=0.0))
    cost = None if known.cost_usd is None or event.cost_usd is None else known.cost_usd + event.cost_usd
    rows[event.purpose] = SideUse(purpose=event.purpose, requests=known.requests + 1, cost_usd=cost)
    return tuple(rows.values())


@fold.register
def _(event: ModelChanged, state: PlainState) -> PlainState:
    return replace(state, facts=replace(state.facts, model=event.model))


@fold.register
def _(event: PermissionModeChanged, state: PlainState) -> PlainState:
    return replace(state, facts=replace(state.facts, permission_mode=event.mode))
