"""Sessions as a list for people: clew's own and other agents', newest first."""

import time
from pathlib import Path

from clew.host.request import SessionRequest
from clew.orient.board import recent
from clew.orient.recap_query import WrittenRecaps
from clew.orient.report import RecapCache, Report
from clew.orient.side_query import Stamp
from clew.protocol.events import SessionRow
from clew.system.home import clew_home

LOOK_BACK_S = 90 * 86_400.0
LOOKED_AT = 200
"""Sessions that a query is compared with."""


def session_rows(request: SessionRequest, query: str, limit: int) -> tuple[SessionRow, ...]:
    """The newest that fit the query, by title, project and recap."""
    home = clew_home(request.env)
    words = query.lower().split()
    now_s = time.time()
    cache, written = RecapCache(home), WrittenRecaps(home)
    rows: list[SessionRow] = []
    for found in recent(home, since_s=now_s - LOOK_BACK_S, limit=LOOKED_AT if words else limit).found:
        try:
            report = cache.report(found.path, agent=found.agent, session_id=found.session_id)
        except OSError:
            continue  # it went away meanwhile, or is not ours to read
        row = SessionRow(
            session_id=found.session_id,
            agent=found.agent,
            title=report.title or report.goal,
            project=Path(report.project).name if report.project else "",
            path=str(found.path),
            age_s=max(0.0, now_s - found.mtime),
            state=report.form.state.value,
            recap=words_of(report, written),
        )
        text = f"{row.session_id} {row.title} {row.project} {row.recap}".lower()
        if all(word in text for word in words):
            rows.append(row)
        if len(rows) >= limit:
            break
    return tuple(rows)


def words_of(report: Report, written: WrittenRecaps) -> str:
    """Where a session stands: as a model wrote it when it was left, if it was not touched since; else from facts."""
    kept = written.get(Stamp(report.form.session_id, report.form.last_entry_id))
    return (kept.text if kept is not None else "") or report.text
