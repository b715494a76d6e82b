"""What a front end learns from events, as far as commands show it: one fold for every front end."""

from msgspec.structs import replace

from clew.commands.base import SessionFacts
from clew.protocol.events import (
    EffortChanged,
    Envelope,
    EventBase,
    GuestsChanged,
    HooksChanged,
    McpServersChanged,
    ModelChanged,
    Notice,
    PartCompleted,
    PermissionModeChanged,
    PlaceChanged,
    PromptAccepted,
    RecapReady,
    SessionStarted,
    SnapshotTaken,
    ThemeChanged,
)
from clew.protocol.ids import MAIN_AGENT
from clew.protocol.invocables import InvocablesChanged
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.hooks import HooksListed
from clew.protocol.lookups.mcp import McpServersListed
from clew.protocol.lookups.rules_and_models import ModelsListed
from clew.protocol.lookups.session import HistoryLoaded
from clew.protocol.messages import TextPart
from clew.protocol.state import after

MAX_ANSWERS = 20
MAX_ANSWER_CHARS = 1_000_000


def facts_after(envelope: Envelope, facts: SessionFacts) -> SessionFacts:
    """The facts after an event. Of agents beside the main one only the state counts: what they ask, do and cost."""
    event = envelope.event
    if isinstance(event, SessionStarted):
        return _begun(event)
    if isinstance(event, SnapshotTaken):
        return replace(facts, state=event.state)
    facts = replace(facts, state=after(envelope, facts.state))
    if isinstance(event, GuestsChanged):
        return replace(facts, guests=event.guests)
    return _changed(event, facts) if envelope.agent == MAIN_AGENT else facts


def facts_with(answer: Answer, facts: SessionFacts) -> SessionFacts:
    """The facts after a lookup was answered."""
    match answer:
        case ModelsListed():
            return replace(facts, models=answer.models)
        case HooksListed():
            return replace(facts, hooks=answer.hooks)
        case McpServersListed():
            return replace(facts, servers=answer.servers)
        case HistoryLoaded():
            return _with_older_answers(answer, facts)
        case _:
            return facts


def _with_older_answers(loaded: HistoryLoaded, facts: SessionFacts) -> SessionFacts:
    """The answers of a piece of history come before those that are known."""
    older = SessionFacts()
    for recorded in loaded.events:
        older = _changed(recorded.event, older)
    return replace(facts, answers=(*older.answers, *facts.answers)[-MAX_ANSWERS:])


def _begun(event: SessionStarted) -> SessionFacts:
    return SessionFacts(
        session_id=event.session_id,
        cwd=event.cwd,
        project=event.cwd,
        branch=event.branch,
        model=event.model,
        effort=event.effort,
        permission_mode=event.permission_mode,
        may_bypass=event.may_bypass,
        version=event.version,
        resumed=event.resumed,
        kept=event.kept,
        attached=event.attached,
        invocables=event.invocables,
    )


def _changed(event: EventBase, facts: SessionFacts) -> SessionFacts:
    match event:
        case ModelChanged():
            return replace(facts, model=event.model)
        case HooksChanged():
            return replace(facts, hooks=event.hooks)
        case McpServersChanged():
            return replace(facts, servers=event.servers)
        case InvocablesChanged():
            return replace(facts, invocables=event.invocables)
        case EffortChanged():
            return replace(facts, effort=event.effort)
        case PermissionModeChanged():
            return replace(facts, permission_mode=event.mode)
        case PlaceChanged():
            return replace(facts, cwd=event.cwd, branch=event.branch)
        case ThemeChanged():
            return replace(facts, theme=event.theme)
        case RecapReady():
            return _recapped(event, facts)
        case Notice(code="recap-why"):
            return replace(facts, recap_why=f"{facts.recap_why} {event.text}".strip())
        case PromptAccepted(hidden=False):
            return replace(facts, answering=False)
        case PartCompleted(part=TextPart(text=text)):
            return with_answer(facts, text)
        case _:
            return facts


OCCASIONS = {"asked": "you asked for it", "resumed": "the session was resumed", "returned": "you came back"}


def _recapped(event: RecapReady, facts: SessionFacts) -> SessionFacts:
    why = f"It was shown because {OCCASIONS[event.occasion]}."
    return replace(facts, recap_source=event.source, recap_why=f"{why} {event.why}" if event.why else why)


def with_answer(facts: SessionFacts, text: str) -> SessionFacts:
    """The last words between two prompts are the answer: those before announce what is done."""
    if not text.strip():
        return facts
    earlier = facts.answers[:-1] if facts.answering else facts.answers
    return replace(facts, answers=(*earlier, text[:MAX_ANSWER_CHARS])[-MAX_ANSWERS:], answering=True)
