"""What a front end knows of its session: one pure fold from events to the facts that commands show."""

from functools import singledispatch

from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.protocol.events import (
    EventBase,
    ModelChanged,
    ModelsListed,
    Notice,
    PermissionModeChanged,
    PlaceChanged,
    RecapReady,
    SessionStarted,
    SnapshotTaken,
)
from clew.protocol.state import after


def facts_after(event: EventBase, facts: SessionFacts) -> SessionFacts:
    """The facts after this event of the main agent."""
    return _fold(event, replace(facts, state=after(event, facts.state)))


@singledispatch
def _fold(event: EventBase, facts: SessionFacts) -> SessionFacts:
    return facts


@_fold.register
def _(event: SessionStarted, facts: SessionFacts) -> SessionFacts:
    return SessionFacts(
        session_id=event.session_id,
        cwd=event.cwd,
        branch=event.branch,
        model=event.model,
        permission_mode=event.permission_mode,
        version=event.version,
        resumed=event.resumed,
        kept=event.kept,
    )


@_fold.register
def _(event: SnapshotTaken, facts: SessionFacts) -> SessionFacts:
    return replace(facts, state=event.state)


@_fold.register
def _(event: RecapReady, facts: SessionFacts) -> SessionFacts:
    greeted = facts.resumed and not facts.recap_why
    why = "It was shown because the session was resumed." if greeted else "It was shown because you asked for it."
    why = f"{why} {event.why}" if event.why else why
    return replace(facts, recap_source=event.source, recap_why=why)


@_fold.register
def _(event: Notice, facts: SessionFacts) -> SessionFacts:
    if event.code != "recap-why":
        return facts
    return replace(facts, recap_why=f"{facts.recap_why} {event.text}".strip())


@_fold.register
def _(event: ModelChanged, facts: SessionFacts) -> SessionFacts:
    return replace(facts, model=event.model)


@_fold.register
def _(event: PermissionModeChanged, facts: SessionFacts) -> SessionFacts:
    return replace(facts, permission_mode=event.mode)


@_fold.register
def _(event: PlaceChanged, facts: SessionFacts) -> SessionFacts:
    return replace(facts, cwd=event.cwd, branch=event.branch)


@_fold.register
def _(event: ModelsListed, facts: SessionFacts) -> SessionFacts:
    return replace(facts, models=event.models)
