"""`index.db`: the list of sessions and their words in SQLite. A cache: delete it and the same list comes back.

The tables of the index. A change of shape changes the version, and the file is built anew.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

import msgspec

from clew.system.private_files import FILE_MODE, private_dir
from clew.transcript.index.digest import Digest
from clew.transcript.index.rows import COLUMNS, PLACE, Hit, IndexRow, SourceFile, filters, key_of, row_of
from clew.transcript.index.search_text import IndexedText, excerpt, indexed, match_query

VERSION = 6

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS sessions (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL, path TEXT NOT NULL, session_id TEXT NOT NULL,
        project TEXT, cwd TEXT, branch TEXT, title TEXT, first_prompt TEXT, last_prompt TEXT, last_at TEXT,
        mtime REAL, activity REAL, state TEXT, turns INTEGER, cost_usd REAL, size INTEGER, recap TEXT, model TEXT,
        archived INTEGER, problems INTEGER, offset INTEGER, digest BLOB,
        UNIQUE (agent, path, session_id)
    )""",
    "CREATE INDEX IF NOT EXISTS sessions_activity ON sessions (activity DESC)",
    "CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY, session INTEGER, role TEXT, uuid TEXT, text TEXT)",
    "CREATE INDEX IF NOT EXISTS documents_session ON documents (session)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 "
    "(body, content = '', tokenize = 'unicode61 remove_diacritics 2')",
    "INSERT INTO words (words, rank) VALUES ('hashsize', 16000000)",
)


CHECKED_BYTES = 256 * 1024 * 1024
"""An index up to this size is looked through when it is opened; a larger one tells its damage when it is met."""
_BUSY_S = 10.0
_POLL_S = 0.01
DAMAGE_WORDS = ("no such table", "no such column", "malformed", "unsupported file format", "has no column")
"""In messages that SQLite files under operation, though the bytes of the file are at fault."""
_SEARCHED_DOCUMENTS = 2000


class SessionIndex:
    """Several processes may use one file: readers never wait, writers take turns. Damage means a new file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.was_damaged = False
        """The file that lay there could not be used and was thrown away."""
        self._db = self._open()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def known(self) -> dict[tuple[str, str, str], tuple[int, float, int]]:
        """What was seen of each file: (agent, path, session) to (size, mtime, offset)."""
        rows = self._db.execute("SELECT agent, path, session_id, size, mtime, offset FROM sessions")
        return {(agent, path, session): (size, mtime, at) for agent, path, session, size, mtime, at in rows}

    def start_of(self, source: SourceFile) -> tuple[int, Digest]:
        """Where to go on reading a file that only grows, and the digest so far. A file that shrank starts anew."""
        row = self._db.execute(
            "SELECT offset, digest FROM sessions WHERE agent = ? AND path = ? AND session_id = ?", key_of(source)
        ).fetchone()
        if row is None or row[0] > source.size or not row[1]:
            return 0, Digest()
        return row[0], msgspec.json.decode(row[1], type=Digest)

    def put(
        self,
        source: SourceFile,
        digest: Digest,
        found: Iterable[IndexedText],
        *,
        start: int,
        offset: int,
        state: str,
    ) -> None:
        """Record what was read between `start` and `offset`. Another process that was faster wins."""
        with self._transaction() as db:
            row = db.execute(
                "SELECT id, offset FROM sessions WHERE agent = ? AND path = ? AND session_id = ?", key_of(source)
            ).fetchone()
            if row is not None and start and row[1] != start:
                return
            number = row[0] if row is not None else None
            if number is not None and not start:
                self._forget_documents(db, number)
            number = self._put_row(db, number, source, digest, offset, state)
            self._add_documents(db, number, [document for document in found if document.text.strip()])

    @contextlib.contextmanager
    def batch(self) -> Generator[None]:
        """Several puts in one go: the words of many small files are merged once, not once for each."""
        with self._transaction():
            yield

    def _add_documents(self, db: sqlite3.Connection, session: int, found: list[IndexedText]) -> None:
        first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM documents").fetchone()[0]
        numbered = list(enumerate(found, first))
        db.executemany(
            "INSERT INTO documents (id, session, role, uuid, text) VALUES (?, ?, ?, ?, ?)",
            [(number, session, document.role, document.uuid, document.text) for number, document in numbered],
        )
        db.executemany(
            "INSERT INTO words (rowid, body) VALUES (?, ?)",
            [(number, indexed(document.text)) for number, document in numbered],
        )

    def forget(self, gone: Iterable[tuple[str, str, str]]) -> None:
        """Drop sessions whose files are no more."""
        with self._transaction() as db:
            for key in gone:
                row = db.execute(
                    "SELECT id FROM sessions WHERE agent = ? AND path = ? AND session_id = ?", key
                ).fetchone()
                if row is not None:
                    self._forget_documents(db, row[0])
                    db.execute("DELETE FROM sessions WHERE id = ?", row)

    def rows(
        self,
        *,
        agents: Sequence[str] = (),
        projects: Sequence[str] = (),
        limit: int = -1,
        not_after: float = float("inf"),
    ) -> list[IndexRow]:
        """Sessions, the last written first; those dated after `not_after` come last."""
        where, values = filters(agents, projects)
        found = self._db.execute(
            f"SELECT {COLUMNS} FROM sessions s {where} "
            "ORDER BY CASE WHEN activity > ? THEN 0 ELSE activity END DESC, path LIMIT ?",
            (*values, not_after, limit),
        )
        return [row_of(row) for row in found]

    def projects(self) -> list[str]:
        """The directories that sessions belong to."""
        return [name for (name,) in self._db.execute(f"SELECT DISTINCT {PLACE} FROM sessions s") if name]

    def ids(self) -> list[str]:
        """The ids of all sessions."""
        return [name for (name,) in self._db.execute("SELECT session_id FROM sessions")]

    def count(self) -> int:
        """How many sessions are known."""
        return self._db.execute("SELECT count(*) FROM sessions").fetchone()[0]

    def search(
        self, question: str, *, agents: Sequence[str] = (), projects: Sequence[str] = (), limit: int = 20
    ) -> list[Hit]:
        """Sessions that hold all the words, newest words first; one hit for each session, titles count too."""
        query = match_query(question)
        if not query:
            return []
        where, values = filters(agents, projects)
        chosen = self._db.execute(
            f"SELECT d.id, d.session FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) w "
            f"JOIN documents d ON d.id = w.rowid JOIN sessions s ON s.id = d.session {where} "
            "ORDER BY d.id DESC",
            (query, _SEARCHED_DOCUMENTS, *values),
        )
        best: dict[int, int] = {}
        for number, session in chosen:
            best.setdefault(session, number)
            if len(best) >= limit:
                break
        hits = [self._hit(number, question) for number in best.values()]
        return sorted(hits, key=lambda hit: -hit.row.activity)

    def _hit(self, document: int, question: str) -> Hit:
        row = self._db.execute(
            f"SELECT d.role, d.uuid, d.text, {COLUMNS} FROM documents d JOIN sessions s ON s.id = d.session "
            "WHERE d.id = ?",
            (document,),
        ).fetchone()
        text, spans = excerpt(row[2], question)
        return Hit(row=row_of(row[3:]), role=row[0], uuid=row[1], text=text, spans=tuple(spans))

    def _put_row(
        self, db: sqlite3.Connection, number: int | None, source: SourceFile, digest: Digest, offset: int, state: str
    ) -> int:
        values = {
            "agent": source.agent,
            "path": source.path,
            "session_id": source.session_id,
            "project": source.project,
            "cwd": digest.cwd or source.cwd,
            "branch": digest.branch,
            "title": digest.own_title or digest.given_title or source.title or digest.title,
            "first_prompt": digest.first_prompt,
            "last_prompt": digest.last_prompt,
            "last_at": digest.last_at,
            "mtime": source.mtime,
            "activity": source.mtime,
            "state": state,
            "turns": digest.turns,
            "cost_usd": digest.cost_usd,
            "size": source.size,
            "recap": digest.recap,
            "model": digest.model,
            "archived": int(source.archived),
            "problems": digest.problems,
            "offset": offset,
            "digest": msgspec.json.encode(digest),
        }
        if number is None:
            marks = ", ".join("?" for _ in values)
            names = ", ".join(values)
            added = db.execute(f"INSERT INTO sessions ({names}) VALUES ({marks})", tuple(values.values()))
            assert added.lastrowid is not None
            return added.lastrowid
        changes = ", ".join(f"{name} = ?" for name in values)
        db.execute(f"UPDATE sessions SET {changes} WHERE id = ?", (*values.values(), number))
        return number

    def _forget_documents(self, db: sqlite3.Connection, session: int) -> None:
        for number, text in db.execute("SELECT id, text FROM documents WHERE session = ?", (session,)).fetchall():
            db.execute("INSERT INTO words (words, rowid, body) VALUES ('delete', ?, ?)", (number, indexed(text)))
        db.execute("DELETE FROM documents WHERE session = ?", (session,))

    @contextlib.contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        if self._db.in_transaction:
            yield self._db
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        try:
            private_dir(self._path.parent)
            return _connect(str(self._path))
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
            if any(word in str(error) for word in DAMAGE_WORDS):
                self.was_damaged = True
                self.discard()
                return _connect(str(self._path))
            return _connect(":memory:")  # a home that cannot be written: everything still works, only slower
        except sqlite3.DatabaseError as error:
            self.was_damaged = not isinstance(error, OtherVersion)
            self.discard()
            return _connect(str(self._path))
        except OSError:
            return _connect(":memory:")

    def discard(self) -> None:
        """Remove the file; whoever has it open keeps what was there."""
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._path}{end}")

    def rebuilt(self) -> "SessionIndex":
        """A new, empty index in place of a damaged one."""
        with contextlib.suppress(sqlite3.Error):
            self._db.close()
        self.discard()
        index = SessionIndex(self._path)
        index.was_damaged = True
        return index


class OtherVersion(sqlite3.DatabaseError):
    """The index was made by another version of clew."""


def is_damage(error: Exception) -> bool:
    """Whether an index that was read brought this about because its bytes are not what was written."""
    if isinstance(error, sqlite3.OperationalError):
        return "locked" not in str(error)
    # A changed byte may also be the kind of a value: a path that is no text, a size that is no number.
    return isinstance(error, sqlite3.DatabaseError | msgspec.MsgspecError | ValueError | TypeError)


def _connect(path: str) -> sqlite3.Connection:
    if path != ":memory:":
        # Created here for its mode; SQLite gives its side files the same one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE))
    db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        _write_ahead(db)
        db.execute("PRAGMA synchronous = OFF")  # a cache: what a power cut damages is built anew
        db.execute("PRAGMA cache_size = -32000")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise OtherVersion(f"index of another version: {version}")
        if version != VERSION:
            db.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        elif path != ":memory:" and os.stat(path).st_size <= CHECKED_BYTES:
            _look_through(db)
    except BaseException:
        db.close()
        raise
    return db


def _look_through(db: sqlite3.Connection) -> None:
    """Raises DatabaseError where a page of the tables or of the words is damaged."""
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def _write_ahead(db: sqlite3.Connection) -> None:
    """Readers shall not wait for writers. SQLite itself does not wait here when another process does the same."""
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_POLL_S)
