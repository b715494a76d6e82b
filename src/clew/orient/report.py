"""A recap as programs read it: the object of `clew recap --json`."""

from typing import Any

from msgspec import Struct

from clew.ledger.facts import Ledger
from clew.orient.clauses import Clause
from clew.orient.load import LoadedSession
from clew.orient.recap import FactualRecap, recap
from clew.system.redact import redact

STALE_S = 900.0
"""A session whose last entry is older than this is not being worked on any more, whatever its last line says."""


class Report(Struct, frozen=True, kw_only=True):
    """Where one session stands, as far as it does not depend on the time of asking."""

    file: str
    agent: str
    session: str
    project: str
    state: str
    goal: str
    next_step: str
    last_request: str
    language: str
    text: str
    live_text: str
    """The words while the session is being worked on; the same as `text` unless its state is working."""
    facts: tuple[Clause, ...]
    title: str
    updated_s: float
    entries: int
    problem: str = ""


def make_report(session: LoadedSession) -> Report:
    """The report of a loaded session."""
    made = make_recap(session)
    live = make_recap(session, live=True).text if session.ledger.state == "working" else made.text
    return Report(
        file=session.path,
        agent=session.agent,
        session=session.session_id,
        project=session.project,
        state=session.ledger.state,
        goal=made.goal,
        next_step=made.next_step,
        last_request=made.last_request,
        language=made.language,
        text=made.text,
        live_text=live,
        facts=made.clauses,
        title=redact(session.ledger.title or session.title),
        updated_s=session.updated_s,
        entries=session.ledger.entries,
        problem=session.problem,
    )


def make_recap(session: LoadedSession, *, live: bool = False) -> FactualRecap:
    """The factual recap of a loaded session."""
    return recap(session.ledger, title=session.title, project=session.project, live=live)


def age_of(report: Report, now_s: float) -> float:
    """Seconds since the last entry."""
    return max(0.0, now_s - report.updated_s) if report.updated_s else 0.0


def state_now(state: str, age_s: float) -> str:
    """The state, where "working" needs a recent entry."""
    return "interrupted" if state == "working" and age_s > STALE_S else state


def text_now(report: Report, now_s: float) -> str:
    """The recap's words, as of now."""
    return report.live_text if age_of(report, now_s) <= STALE_S else report.text


def recap_object(report: Report, *, now_s: float, text: str = "") -> dict[str, Any]:
    """The keys of `clew recap --json`, in their documented order."""
    age_s = age_of(report, now_s)
    return {
        "file": report.file,
        "agent": report.agent,
        "session": report.session,
        "project": report.project,
        "state": state_now(report.state, age_s),
        "goal": report.goal,
        "next_step": report.next_step,
        "last_request": report.last_request,
        "language": report.language,
        "text": text or text_now(report, now_s),
        "facts": [{"text": clause.text, "source": list(clause.source)} for clause in report.facts],
        "age_s": round(age_s),
        "title": report.title,
    }


def recap_data(made: FactualRecap, ledger: Ledger, *, source: str, away: str = "") -> dict[str, Any]:
    """What a stored recap (`system`/`away_summary`) keeps beside its words: its facts and what it is about."""
    return {
        "sessionId": ledger.session_id,
        "lastEntryId": ledger.last_entry_id,
        "source": source,
        "away": away,
        "facts": [{"text": clause.text, "source": list(clause.source)} for clause in made.clauses],
    }
