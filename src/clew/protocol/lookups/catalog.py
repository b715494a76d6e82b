"""What sub-commands ask about sessions on disk, clew's and others': which one is meant, the list, recaps, disk use.

They are answered for a place (`assembly/place.py`), never by a session.
"""

from typing import ClassVar, Literal

from msgspec import Struct, field

from clew.protocol.base import Rights
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.standing import Standing


class NamedSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session on disk. A file may hold several: `path` and `session_id` together name it."""

    agent: str
    path: str
    session_id: str
    title: str = ""
    project: str = ""
    changed_s: float = 0.0
    size: int = 0
    """Of the file."""
    note: str = ""
    """One line for a person, when the choice was not theirs alone."""


class AgentsChosen(Answer, frozen=True, kw_only=True, tag="agents.chosen"):
    """Whose sessions are looked at, and where they are."""

    agents: tuple[str, ...] | None
    """None: all."""
    homes: dict[str, str]


class ChooseAgents(Lookup[AgentsChosen], frozen=True, kw_only=True, tag="agents.choose"):
    """Ask what `--agent` and `--home` mean together with the settings. Misused: a name that nobody has."""

    agent: str = "all"
    homes: tuple[str, ...] = ()
    """`AGENT=DIR` each."""


class SessionNamed(Answer, frozen=True, kw_only=True, tag="session.named"):
    """The session that is meant, or those of which a person must choose one."""

    session: NamedSession | None = None
    candidates: tuple[NamedSession, ...] = ()
    about: str = ""
    """What the candidates fit."""


class NameSession(Lookup[SessionNamed], frozen=True, kw_only=True, tag="session.name"):
    """Ask which session is meant by a path, an id, a title or words. Refused where none fits, or where several do and
    nobody can choose."""

    query: str
    agents: tuple[str, ...] | None = None
    homes: dict[str, str] = field(default_factory=dict[str, str])
    choosing: bool = False
    """A person can choose among several."""
    paths: bool = True
    """A file may be named."""


class CatalogRow(Struct, frozen=True, kw_only=True):
    """One session in the list of all. Programs read these fields, in this order, up to `place_name`."""

    agent: str
    path: str
    session_id: str
    project: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    first_prompt: str = ""
    last_prompt: str = ""
    last_at: str = ""
    mtime: float = 0.0
    activity: float = 0.0
    state: str = ""
    turns: int = 0
    cost_usd: float | None = None
    size: int = 0
    recap: str = ""
    model: str = ""
    archived: bool = False
    problems: int = 0
    place_name: str = ""
    """The directory's own name, for people."""


class CatalogHit(Struct, frozen=True, kw_only=True):
    """Where a session holds what was asked for."""

    row: CatalogRow
    role: str
    uuid: str
    text: str
    spans: tuple[tuple[int, int], ...]
    """Positions of the hits in `text`."""


class CatalogListed(Answer, frozen=True, kw_only=True, tag="catalog.listed"):
    """The list, newest first, or the hits of a search."""

    rows: tuple[CatalogRow, ...] = ()
    hits: tuple[CatalogHit, ...] = ()
    names: dict[str, str] = field(default_factory=dict[str, str])
    """As much of each id as tells it from the others."""
    unread: int = 0
    """Sessions that there was no time to read yet."""
    note: str = ""
    """What a person should know of the list itself: it was damaged and made anew."""


class ListCatalog(Lookup[CatalogListed], frozen=True, kw_only=True, tag="catalog.list"):
    """Ask for the list of all sessions with their figures, or for those that hold some words."""

    search: str | None = None
    deep: bool = False
    """Look through whole files if need be."""
    agents: tuple[str, ...] | None = None
    homes: dict[str, str] = field(default_factory=dict[str, str])
    project: str = ""
    """Only sessions of this directory or below; empty: all."""
    limit: int = -1
    """Below 0: no limit."""
    budget_s: float = 4.0
    """For reading what the index lacks."""


class SessionMoved(Answer, frozen=True, kw_only=True, tag="session.moved"):
    """A session of ours lies somewhere else now."""

    session: str
    path: str


class MoveSession(Lookup[SessionMoved], frozen=True, kw_only=True, tag="session.move"):
    """Compress a session of ours, throw it away, or bring it back."""

    needs: ClassVar[Rights] = Rights.DRIVE

    action: Literal["archive", "trash", "restore"]
    session: str
    """Its file; to restore: its id."""


class SessionsMeasured(Answer, frozen=True, kw_only=True, tag="sessions.measured"):
    """Bytes on disk."""

    sizes: tuple[int, ...] = ()
    """Of the sessions that were named."""
    total: dict[str, int] = field(default_factory=dict[str, int])
    """Of all, by what they are."""


class MeasureSessions(Lookup[SessionsMeasured], frozen=True, kw_only=True, tag="sessions.measure"):
    """Ask how much room sessions of ours take: these files, or all."""

    paths: tuple[str, ...] = ()


class RecentListed(Answer, frozen=True, kw_only=True, tag="recent.listed"):
    """Sessions that were touched lately, newest first."""

    sessions: tuple[NamedSession, ...]
    left_out: int = 0


class ListRecent(Lookup[RecentListed], frozen=True, kw_only=True, tag="recent.list"):
    """Ask which sessions were touched since a moment; none of them is read."""

    since_s: float
    agents: tuple[str, ...] | None = None
    homes: dict[str, str] = field(default_factory=dict[str, str])
    limit: int = 40


class RecapFact(Struct, frozen=True, kw_only=True):
    """One fact of a recap and the entries that show it."""

    field: str
    text: str
    source: tuple[str, ...] = ()


class SessionRecap(Struct, frozen=True, kw_only=True):
    """Where one session stands, from facts."""

    file: str
    agent: str
    session: str
    project: str
    title: str
    updated_s: float
    entries: int
    problem: str
    state: Standing
    goal: str
    next_step: str
    last_request: str
    language: str
    text: str
    """All of it in one line."""
    standing: str
    """State, changes and what is open in one line."""
    facts: tuple[RecapFact, ...]
    lines: tuple[str, ...]
    written: str = ""
    """The words that a model wrote when it was left, if it was not touched since."""


class SessionRecapped(Answer, frozen=True, kw_only=True, tag="session.recapped"):
    """The recap; None: the session has nothing to tell in a list."""

    recap: SessionRecap | None = None


class RecapSession(Lookup[SessionRecapped], frozen=True, kw_only=True, tag="session.recap"):
    """Ask where a session stands. Raises OSError for a file that cannot be read, unless it is one of a list."""

    session: NamedSession
    listed: bool = False
    """It is one of many: a very large file is not read, and one that says nothing is left out."""


class RecapWritten(Answer, frozen=True, kw_only=True, tag="recap.written"):
    """A recap in a model's words."""

    text: str = ""
    """Empty: there are none, and the facts stand alone."""
    notes: tuple[str, ...] = ()
    """What it cost, or why there are none, a line each."""


class WriteRecap(Lookup[RecapWritten], frozen=True, kw_only=True, tag="recap.write"):
    """Let a model write the recap of a session, checked against its facts, and book what it costs."""

    needs: ClassVar[Rights] = Rights.DRIVE

    session: NamedSession
    listed: bool = False
    """As in `RecapSession`."""
