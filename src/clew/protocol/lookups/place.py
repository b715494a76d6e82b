"""What a place is asked, whichever session works there: its sessions, files, memory files and checks."""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from clew.protocol.base import Rights
from clew.protocol.event_kinds.session import SessionRow
from clew.protocol.lookups.base import Answer, Lookup

MemoryScope = Literal["user", "project"]


class SessionsListed(Answer, frozen=True, kw_only=True, tag="sessions.listed"):
    """Sessions that fit, newest first."""

    sessions: tuple[SessionRow, ...]


class ListSessions(Lookup[SessionsListed], frozen=True, kw_only=True, tag="sessions.list"):
    """Ask for sessions, all agents' included; `query` filters by title and words."""

    query: str = ""
    limit: int = 20


class SearchHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that holds the words, and the newest place in it that does."""

    session: SessionRow
    role: str = ""
    """Who said it there."""
    excerpt: str = ""
    """The words and what stands around them, on one line."""


class SessionsSearched(Answer, frozen=True, kw_only=True, tag="sessions.searched"):
    """Sessions that hold all the words, the newest place first."""

    query: str
    hits: tuple[SearchHit, ...]
    unread: int = 0
    """Sessions that there was no time to read yet."""


class SearchSessions(Lookup[SessionsSearched], frozen=True, kw_only=True, tag="sessions.search"):
    """Ask which sessions, of all agents, hold some words anywhere."""

    query: str
    limit: int = 20


class SessionPreviewed(Answer, frozen=True, kw_only=True, tag="session.previewed"):
    """The last exchange of a session."""

    session: str
    lines: tuple[str, ...]
    """The last prompt, its first line beginning with "> ", then the last answer; bounded."""
    recap: str = ""
    """Where the session stands in a model's words, if these were asked for and may be written."""


class PreviewSession(Lookup[SessionPreviewed], frozen=True, kw_only=True, tag="session.preview"):
    """Ask for the last exchange of a session of a list. Reads only its end."""

    session: str
    """The `session_id` of a row."""
    words: bool = False
    """Ask for its recap in a model's words instead, where automatic ones may be written for it; this takes a while."""


class FilesFound(Answer, frozen=True, kw_only=True, tag="files.found"):
    """Paths that fit, best first. Names are data: they may hold control characters."""

    query: str
    rows: tuple[str, ...]
    """Relative to the project root; a directory ends with "/"."""


class FindFiles(Lookup[FilesFound], frozen=True, kw_only=True, tag="files.find"):
    """Ask which files of the project fit some letters."""

    query: str
    limit: int = 20


class MemoryRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory file in force."""

    path: str
    scope: MemoryScope
    chars: int
    """Of its text that is used."""
    imported_by: str = ""


class DoubtedRow(Struct, frozen=True, kw_only=True):
    """A memory file that a command changed and that is not believed before a person has looked at it."""

    path: str
    command: str
    text: str
    """The beginning of what it says now: untrusted."""


class MemoryListed(Answer, frozen=True, kw_only=True, tag="memory.listed"):
    """The memory files in force, in the order the model reads them."""

    files: tuple[MemoryRow, ...]
    adds_to: str
    """Where `Remember` would write; empty: memory is off."""
    notes: tuple[str, ...] = ()
    """One line for every file that was cut, cleaned or left out."""
    doubted: tuple[DoubtedRow, ...] = ()


class AcceptMemory(Lookup[MemoryListed], frozen=True, kw_only=True, tag="memory.accept"):
    """A person has looked at the memory files that commands changed: new sessions believe them."""

    needs: ClassVar[Rights] = Rights.DRIVE


class ListMemory(Lookup[MemoryListed], frozen=True, kw_only=True, tag="memory.list"):
    """Ask which memory files are in force."""


class LineRemembered(Answer, frozen=True, kw_only=True, tag="memory.remembered"):
    """A line stands in a memory file now."""

    line: str
    path: str
    scope: MemoryScope
    created: bool = False
    """The file is new."""
    removed: bool = False
    """It was taken out again."""


class Remember(Lookup[LineRemembered], frozen=True, kw_only=True, tag="memory.remember"):
    """Add a line to a memory file: the project's where a trusted project has one, else the user's own. Answered by
    LineRemembered, which names the file."""

    needs: ClassVar[Rights] = Rights.DRIVE

    line: str


class ForgetLine(Lookup[LineRemembered], frozen=True, kw_only=True, tag="memory.forget"):
    """Take the last line that this session added to a memory file out again."""

    needs: ClassVar[Rights] = Rights.DRIVE


class CheckRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was tested just now."""

    name: str
    state: Literal["ok", "info", "warning", "problem"]
    summary: str
    details: tuple[str, ...] = ()
    data: dict[str, Any] = {}
    """The same for programs."""


class ChecksShown(Answer, frozen=True, kw_only=True, tag="checks.shown"):
    """What works here and what is enforced."""

    checks: tuple[CheckRow, ...]


class RunChecks(Lookup[ChecksShown], frozen=True, kw_only=True, tag="checks.run"):
    """Ask what works here and what is enforced."""

    clean_worktrees: bool = False
    """Remove the checkouts that agents left, each once all that it holds is saved in its repository."""
