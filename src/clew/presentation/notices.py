"""What somebody who looks elsewhere should know of, told once each. It never grants anything."""

from clew.protocol.events import ApprovalRequested, Event, Notified, QuestionAsked, TurnEnded
from clew.system.terminal_text import clip, sanitize

MAX_CHARS = 120
LIMITS = frozenset({"max_turns", "max_budget", "max_tokens", "max_minutes"})


def notice_of(event: Event, title: str = "") -> Notified | None:
    """The notice of an event; None for those one need not know of."""
    about = f": {_short(title)}" if title else ""
    match event:
        case ApprovalRequested():
            return Notified(
                kind="needs_approval", text=f"Approval needed for {_short(event.tool)}: {_short(event.subject)}"
            )
        case QuestionAsked():
            question = event.questions[0].question if event.questions else ""
            return Notified(kind="asks", text=f"A question: {_short(question)}")
        case TurnEnded(reason="completed"):
            return Notified(kind="done", text=f"Done{about}")
        case TurnEnded(reason="interrupted"):
            return None
        case TurnEnded() if event.reason in LIMITS:
            return Notified(kind="limit", text=f"A limit was reached{about}")
        case TurnEnded():
            return Notified(kind="failed", text=f"Stopped{about}: {_short(event.error or event.reason)}")
        case _:
            return None


def _short(text: str) -> str:
    return clip(sanitize(text, one_line=True), MAX_CHARS)
