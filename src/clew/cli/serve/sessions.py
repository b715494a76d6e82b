"""What `clew mcp serve` tells of sessions: list, search, recap, show and ledger, each bounded and without secrets."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from clew.catalog.opening import open_named
from clew.cli.sub import ledger as ledger_words
from clew.cli.sub import show as show_words
from clew.cli.sub.agent_homes import chosen_agents, chosen_homes
from clew.cli.sub.place import ask, this_place_if_any
from clew.cli.sub.recap import age_of, age_s, inner_id
from clew.orient.load import load_session
from clew.orient.wording import wording
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.catalog import (
    CatalogListed,
    CatalogRow,
    ListCatalog,
    ListRecent,
    NamedSession,
    NameSession,
    RecapSession,
    SessionRecap,
)
from clew.text.figures import ago
from clew.text.redact import redact
from clew.text.terminal_text import clip, sanitize

MAX_CHARS = 40_000
"""Of one answer. What does not fit is said, with the way to the rest."""
MAX_LINE_CHARS = 2_000
MAX_ROWS = 100
DEFAULT_ROWS = 20
DEFAULT_LINES = 400
MAX_TITLE = 120
_REFRESH_S = 20.0

Session = Annotated[
    str, Meta(description="Its id as listed, the start of one, its title, or words that were said in it")
]
Agent = Annotated[str, Meta(description="Only this agent's: clew, claude_code, codex, gemini, ... (default: all)")]
Rows = Annotated[int, Meta(ge=1, le=MAX_ROWS, description=f"At most so many (default {DEFAULT_ROWS})")]
Project = Annotated[str, Meta(description="Only sessions of this directory (absolute path) or below")]


class ListParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions."""

    agent: Agent = "all"
    project: Project | None = None
    limit: Rows = DEFAULT_ROWS


class SearchParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Annotated[str, Meta(description="Words that the session must hold, all of them")]
    agent: Agent = "all"
    project: Project | None = None
    limit: Rows = DEFAULT_ROWS


class RecapParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One session, or all that were touched lately."""

    session: Session | None = None
    since: Annotated[str, Meta(description="Without a session: how far back, such as 12h, 7d, 2w (default 7d)")] = "7d"
    agent: Agent = "all"


class ShowParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a session."""

    session: Session
    first_line: Annotated[int, Meta(ge=1, description="From this line on (default: the last lines)")] | None = None
    lines: Annotated[int, Meta(ge=1, le=4_000, description=f"So many lines (default {DEFAULT_LINES})")] = DEFAULT_LINES


class LedgerParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose facts."""

    session: Session


def list_sessions(params: ListParams) -> str:
    """As `clew sessions`: newest first, one line each."""
    found = _catalog(params, limit=params.limit + 1)
    lines = [row_line(row, found.names) for row in found.rows[: params.limit]]
    more = ["(There are more; raise limit, or narrow by agent or project.)"] if len(found.rows) > params.limit else []
    return "\n".join([*(lines or ["No sessions."]), *more, *_unread(found.unread)])


def search_sessions(params: SearchParams) -> str:
    """As `clew sessions --search`: the session, and the place with the words."""
    if not params.query.strip():
        raise ValueError("query is empty; give the words to look for")
    found = _catalog(params, limit=params.limit, search=params.query)
    lines: list[str] = []
    for hit in found.hits:
        lines += [row_line(hit.row, found.names), f"    {hit.role}: {hit.text}"]
    return "\n".join([*(lines or ["Nothing found."]), *_unread(found.unread)])


def _catalog(params: ListParams | SearchParams, *, limit: int, search: str | None = None) -> CatalogListed:
    wanted = ListCatalog(
        search=search,
        agents=chosen_agents(params.agent),
        homes=chosen_homes([]),
        project=_folder(params.project),
        limit=limit,
        budget_s=_REFRESH_S,
    )
    return ask(this_place_if_any(), wanted)


def recap(params: RecapParams) -> str:
    """As `clew recap`: where one session stands, or all that were touched lately."""
    place = this_place_if_any()
    if params.session is not None:
        told = ask(place, RecapSession(session=_meant(params.session, params.agent))).recap
        return "\n".join((told.lines if told is not None else ()) or ["Nothing was asked in this session yet."])
    since_s = time.time() - age_s(params.since)
    board = ask(place, ListRecent(since_s=since_s, agents=chosen_agents(params.agent), homes=chosen_homes([])))
    recaps = [ask(place, RecapSession(session=session, listed=True)).recap for session in board.sessions]
    lines = [_recap_line(recap) for recap in recaps if recap is not None]
    left = [f"({board.left_out} older ones of this span are left out.)"] if board.left_out else []
    return "\n".join([*(lines or [f"No session was touched in the last {params.since}."]), *left])


def show(params: ShowParams) -> str:
    """As `clew show`: a stretch of a conversation as text, by default its end."""
    opened = open_named(_meant(params.session))
    lines = [line for block in show_words.lines(opened) for line in block.split("\n")]
    first = params.first_line or max(1, len(lines) - params.lines + 1)
    if first > len(lines):
        raise ValueError(f"the session has only {len(lines)} lines")
    shown: list[str] = []
    size = 0
    for line in lines[first - 1 : first - 1 + params.lines]:
        line = clip(line, MAX_LINE_CHARS)
        size += len(line) + 1
        if size > MAX_CHARS - 1_000:
            break
        shown.append(line)
    last = first + len(shown) - 1
    note = f"(Lines {first}-{last} of {len(lines)}; first_line={last + 1} goes on.)"
    if last == len(lines):
        note = f"(Lines {first}-{last} of {len(lines)}.)"
    return "\n".join([note, *shown, *([f"({opened.warning})"] if opened.warning else [])])


def ledger(params: LedgerParams) -> str:
    """As `clew ledger`: every fact that code derived, with its source entries."""
    found = _meant(params.session)
    session = load_session(Path(found.path), agent=found.agent, session_id=inner_id(found))
    return "\n".join(ledger_words.lines(session.ledger))


class Served(NamedTuple):
    """One tool: what a model is told of it, and what answers."""

    description: str
    params: type[Struct]
    answer: Callable[[Any], str]


SERVED: dict[str, Served] = {
    "list_sessions": Served(
        "Sessions of coding agents on this machine (clew's, and other agents'), newest first: id, agent, age, state, "
        "turns, project, title.",
        ListParams,
        list_sessions,
    ),
    "search_sessions": Served(
        "Full-text search over all sessions: which of them hold these words, and where.",
        SearchParams,
        search_sessions,
    ),
    "recap_session": Served(
        "Where a session stands, from facts of its log: task, state, what changed, what is open. Without a session: "
        "one line for each that was touched lately.",
        RecapParams,
        recap,
    ),
    "show_session": Served("A session's conversation as text, by lines; its end by default.", ShowParams, show),
    "session_ledger": Served(
        "The facts of a session, each with the entries it came from: goals, rules, files, commands with exit codes, "
        "tests, commits, todos, approvals, errors, costs.",
        LedgerParams,
        ledger,
    ),
}


def bounded(text: str) -> str:
    """Without control characters and secrets, and not longer than an answer may be."""
    clean = redact(sanitize(text))
    if len(clean) <= MAX_CHARS:
        return clean
    kept = clean[:MAX_CHARS].rpartition("\n")[0] or clean[:MAX_CHARS]
    return f"{kept}\n({len(clean) - len(kept):,} more characters are left out; ask for less at once.)"


def row_line(row: CatalogRow, names: Mapping[str, str]) -> str:
    """One session on one line."""
    state = "archived" if row.archived else row.state or "unread"
    title = clip(sanitize(row.title or row.first_prompt or "(no title)", one_line=True), MAX_TITLE)
    age = ago(max(0.0, time.time() - row.activity))
    turns = "1 turn" if row.turns == 1 else f"{row.turns} turns"
    where = sanitize(f"{row.place_name}{f' ({row.branch})' if row.branch else ''}", one_line=True)
    return f"{names.get(row.session_id, row.session_id)}  {row.agent}  {age}  {state}  {turns}  {where}  {title}"


def _recap_line(recap: SessionRecap) -> str:
    where = Path(recap.project.replace("\\", "/")).name or recap.project or "?"
    state = wording("en").word(recap.state)
    text = sanitize(recap.text, one_line=True)
    return f"{recap.session}  {where}  {recap.agent}  {ago(age_of(recap, time.time()))}  {state}\n    {text}"


def _meant(query: str, agent: str = "all") -> NamedSession:
    """The session that is meant. Files are not named here: who asks gets sessions, not a way to read the disk."""
    wanted = NameSession(query=query, agents=chosen_agents(agent), homes=chosen_homes([]), paths=False)
    found = ask(this_place_if_any(), wanted).session
    if found is None:
        raise LookupRefused("no session was chosen")
    return found


def _folder(project: str | None) -> str:
    if project is None:
        return ""
    if not os.path.isabs(project):
        raise ValueError("project must be an absolute path")
    return project


def _unread(waiting: int) -> Sequence[str]:
    return [f"({waiting} sessions are not read yet; ask again for the rest.)"] if waiting else []
