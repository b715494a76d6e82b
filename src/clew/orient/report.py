"""A recap as programs read it: the object of `clew recap --json`."""

from typing import Any

from clew.ledger.facts import Ledger
from clew.orient.load import LoadedSession
from clew.orient.recap import FactualRecap, recap
from clew.system.redact import redact

STALE_S = 900.0
"""A session whose last entry is older than this is not being worked on any more, whatever its last line says."""


def state_now(ledger: Ledger, age_s: float) -> str:
    """The state, where "working" needs a recent entry."""
    return "interrupted" if ledger.state == "working" and age_s > STALE_S else ledger.state


def recap_object(session: LoadedSession, made: FactualRecap, *, now_s: float, text: str = "") -> dict[str, Any]:
    """The keys of `clew recap --json`, in their documented order."""
    age_s = max(0.0, now_s - session.updated_s) if session.updated_s else 0.0
    return {
        "file": session.path,
        "agent": session.agent,
        "session": session.session_id,
        "project": session.project,
        "state": state_now(session.ledger, age_s),
        "goal": made.goal,
        "next_step": made.next_step,
        "last_request": made.last_request,
        "language": made.language,
        "text": text or made.text,
        "facts": [{"text": clause.text, "source": list(clause.source)} for clause in made.clauses],
        "age_s": round(age_s),
        "title": redact(session.ledger.title or session.title),
    }


def make_recap(session: LoadedSession) -> FactualRecap:
    """The factual recap of a loaded session."""
    return recap(session.ledger, title=session.title, project=session.project)
