"""Which events somebody who looks elsewhere should know of, in one safe line without secrets."""

from clew.protocol.events import (
    ApprovalRequested,
    Ask,
    ElicitationRequested,
    Event,
    Notified,
    PlanProposed,
    QuestionAsked,
    TurnEnded,
)
from clew.system.redact import redact
from clew.system.terminal_text import clip, sanitize

MAX_CHARS = 120
MAX_READ_CHARS = 20_000
"""More of a text is not looked at: what is shown of it comes from its beginning."""
LIMITS = frozenset({"max_turns", "max_budget", "max_tokens", "max_minutes"})
OWN_DOING = frozenset({"interrupted", "stopped_by_denial"})
"""Whoever ended the turn so knows of it."""


def notice_of(event: Event, title: str = "") -> Notified | None:
    """The notice of an event; None for those one need not know of. No id of the event is in it."""
    title = safe_line(title)
    about = f": {title}" if title else ""
    match event:
        case ApprovalRequested():
            text = f"Approval needed for {safe_line(event.tool)}: {safe_line(event.subject)}"
            return Notified(kind="needs_approval", text=text, title=title)
        case PlanProposed():
            return Notified(kind="needs_approval", text=f"A plan waits for approval{about}", title=title)
        case QuestionAsked():
            question = event.questions[0].question if event.questions else ""
            return Notified(kind="asks", text=f"A question: {safe_line(question)}", title=title)
        case ElicitationRequested():
            text = f"{safe_line(event.server)} asks: {safe_line(event.message)}"
            return Notified(kind="asks", text=text, title=title)
        case Ask():
            return Notified(kind="asks", text=f"An answer is needed{about}", title=title)
        case TurnEnded(reason="completed"):
            return Notified(kind="done", text=f"Done{about}", title=title)
        case TurnEnded() if event.reason in OWN_DOING:
            return None
        case TurnEnded() if event.reason in LIMITS:
            return Notified(kind="limit", text=f"A limit was reached{about}", title=title)
        case TurnEnded():
            return Notified(
                kind="failed", text=f"Stopped{about}: {safe_line(event.error or event.reason)}", title=title
            )
        case _:
            return None


def safe_line(text: str) -> str:
    """Redacted before it is cut: half a key is still most of a key."""
    return clip(sanitize(redact(text[:MAX_READ_CHARS]), one_line=True), MAX_CHARS)
