"""`clew --resume` without a name: the recent sessions with their recaps, and a number to choose by."""

import os
import sys
import time
from pathlib import Path

from clew.catalog.found_session import FoundSession
from clew.catalog.recent import recent
from clew.cli.sub.agent_homes import chosen_agents, chosen_homes
from clew.orient.recap_query import WrittenRecaps
from clew.orient.report import RecapCache, Report
from clew.orient.side_query import QueryStamp
from clew.plain.line.wrap import wrap
from clew.text.figures import ago
from clew.text.terminal_text import sanitize
from clew.text.terminal_width import clip
from clew.transcript.errors import SessionNotFound

SHOWN = 12
LOOK_BACK_S = 90 * 86_400.0
COLUMNS = 100


def pick_recent(home: Path) -> FoundSession:
    """Ask which session to go on with, ours or another agent's. Raises SessionNotFound when none is chosen."""
    since_s = time.time() - LOOK_BACK_S
    found = recent(home, since_s=since_s, agents=chosen_agents("all"), homes=chosen_homes([]), limit=SHOWN).found
    if not found:
        raise SessionNotFound("there is no session to go on with yet")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SessionNotFound(
            "name the session to resume: its id, title, words from it, or a file; `clew sessions` lists them"
        )
    cache, written = RecapCache(home), WrittenRecaps(home)
    columns = min(os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS, COLUMNS)
    for number, session in enumerate(found, 1):
        for line in row(number, session, report_of(cache, session), written, columns=columns):
            sys.stderr.write(f"{line}\n")
    while True:
        sys.stderr.write(f"Go on with which? [1-{len(found)}, Enter for none] ")
        sys.stderr.flush()
        answer = sys.stdin.readline().strip()
        if not answer:
            raise SessionNotFound("no session was chosen")
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(found):
            return found[int(answer) - 1]


def report_of(cache: RecapCache, session: FoundSession) -> Report | None:
    """The recap, if the file can be read."""
    try:
        return cache.report(session.path, agent=session.agent, session_id=session.session_id)
    except OSError:
        return None


def row(
    number: int, session: FoundSession, report: Report | None, written: WrittenRecaps, *, columns: int = COLUMNS
) -> tuple[str, ...]:
    """What it is, and where it stands in two lines at most; in the words a model wrote for it on leaving, where there
    are any."""
    age = ago(max(0.0, time.time() - session.changed_s))
    project = Path(report.project).name if report is not None and report.project else ""
    title = (report.title or report.goal) if report is not None else ""
    where = " · ".join(part for part in (session.agent, project, age) if part)
    head = f"{number:>2}. {title or session.session_id}  ({where})"
    text = "cannot be read"
    if report is not None:
        kept = written.get(QueryStamp(report.form.session_id, report.form.last_entry_id))
        text = (kept.text if kept else "") or report.form.standing or report.text
    told = wrap(f"    {sanitize(text, one_line=True)}", columns, hang="    ").split("\n")
    cut = [*told[:1], clip(" ".join([told[1], *map(str.strip, told[2:])]), columns)] if told[1:] else told
    return (clip(sanitize(head, one_line=True), columns), *cut)
