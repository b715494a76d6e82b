"""`clew --resume` without a name: the recent sessions with their recaps, and a number to choose by."""

import os
import sys
import time
from pathlib import Path

from clew.cli.sub.agent_homes import OWN, chosen_agents, chosen_homes
from clew.cli.sub.place import ask, this_place_if_any
from clew.plain.line.wrap import wrap
from clew.protocol.lookups.catalog import ListRecent, NamedSession, RecapSession, SessionRecap
from clew.text.figures import ago
from clew.text.terminal_text import clip, sanitize
from clew.transcript.errors import SessionNotFound

__all__ = ["OWN", "pick_recent"]

SHOWN = 12
LOOK_BACK_S = 90 * 86_400.0
COLUMNS = 100


def pick_recent() -> NamedSession:
    """Ask which session to go on with, ours or another agent's. Raises SessionNotFound when none is chosen."""
    since_s = time.time() - LOOK_BACK_S
    place, agents, homes = this_place_if_any(), chosen_agents("all"), chosen_homes([])
    found = ask(place, ListRecent(since_s=since_s, agents=agents, homes=homes, limit=SHOWN)).sessions
    if not found:
        raise SessionNotFound("there is no session to go on with yet")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SessionNotFound(
            "name the session to resume: its id, title, words from it, or a file; `clew sessions` lists them"
        )
    columns = min(os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS, COLUMNS)
    for number, session in enumerate(found, 1):
        for line in row(number, session, recap_of(session), columns=columns):
            sys.stderr.write(f"{line}\n")
    while True:
        sys.stderr.write(f"Go on with which? [1-{len(found)}, Enter for none] ")
        sys.stderr.flush()
        answer = sys.stdin.readline().strip()
        if not answer:
            raise SessionNotFound("no session was chosen")
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(found):
            return found[int(answer) - 1]


def recap_of(session: NamedSession) -> SessionRecap | None:
    """The recap, if the file can be read."""
    try:
        return ask(this_place_if_any(), RecapSession(session=session)).recap
    except OSError:
        return None


def row(number: int, session: NamedSession, recap: SessionRecap | None, *, columns: int = COLUMNS) -> tuple[str, ...]:
    """What it is, and where it stands in two lines at most; in the words a model wrote for it on leaving, where there
    are any."""
    age = ago(max(0.0, time.time() - session.changed_s))
    project = Path(recap.project).name if recap is not None and recap.project else ""
    title = (recap.title or recap.goal) if recap is not None else ""
    where = " · ".join(part for part in (session.agent, project, age) if part)
    head = f"{number:>2}. {title or session.session_id}  ({where})"
    text = (recap.written or recap.standing or recap.text) if recap is not None else "cannot be read"
    told = wrap(f"    {sanitize(text, one_line=True)}", columns, hang="    ").split("\n")
    cut = [*told[:1], clip(" ".join([told[1], *map(str.strip, told[2:])]), columns)] if told[1:] else told
    return (clip(sanitize(head, one_line=True), columns), *cut)
