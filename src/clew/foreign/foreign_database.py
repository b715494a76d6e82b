"""A SQLite database of another agent: opened read-only, tables only, within a budget of time and bytes.

The file is data of somebody else. A view or a generated column could run for ever, so the authorizer lets nothing
through but reading columns of plain tables, and the engine asks every few thousand steps whether the time is up.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from clew.foreign.shapes import Json
from clew.foreign.source import MAX_FILE_BYTES, MAX_LINE_BYTES, Source

BUDGET_S = 20.0
"""For one statement."""
STEPS = 4_000
"""Steps of the engine between two looks at the clock."""
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)


class Watchman:
    """Ends a statement that takes too long, or that the person interrupts."""

    def __init__(self) -> None:
        self._until = time.monotonic() + BUDGET_S
        self.late = False

    def look(self) -> int:
        """What the engine asks: anything but 0 ends the statement, and so does a KeyboardInterrupt."""
        self.late = time.monotonic() > self._until
        return int(self.late)


def query(path: Path, statement: str, values: tuple[str, ...], source: Source) -> list[Json]:
    """The rows of a statement over plain tables; none, with a problem, where the file cannot be read so."""
    problem = ""
    for options in _ways(path):
        watchman = Watchman()
        try:
            with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?{options}", uri=True)) as connection:
                return _rows(connection, options, statement, values, source, watchman)
        except (sqlite3.Error, MemoryError) as error:
            problem = str(error) or "it needs too much memory"
            if problem == "interrupted" and not watchman.late:
                raise KeyboardInterrupt from error  # SQLite swallows whatever a callback raises
            if problem == "interrupted":
                problem = f"it took longer than {BUDGET_S:g} s, so it was not read to its end"
    source.note("damaged", 0, problem)
    return []


def _rows(
    connection: sqlite3.Connection,
    options: str,
    statement: str,
    values: tuple[str, ...],
    source: Source,
    watchman: Watchman,
) -> list[Json]:
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
    connection.set_progress_handler(watchman.look, STEPS)
    connection.execute("PRAGMA trusted_schema=OFF")
    if "unix-none" in options:
        # Keeps the journal's index in memory instead of in a file beside it.
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    name = statement.partition(" FROM ")[2].split()[0]
    plain = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone()
    if plain is None:
        raise sqlite3.DatabaseError(f"it has no table {name}")
    computed = connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0", (name,)).fetchone()
    if computed is not None:
        raise sqlite3.DatabaseError(f"its table {name} has computed columns")
    connection.set_authorizer(_only_reads)
    cursor = connection.execute(statement, values)
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row, strict=True)) for row in _within_bytes(cursor, source)]


def _within_bytes(cursor: sqlite3.Cursor, source: Source) -> Iterator[tuple[Any, ...]]:
    size = 0
    for row in cursor:
        size += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if size > MAX_FILE_BYTES:
            source.note("too_large", 0, f"more than {MAX_FILE_BYTES} bytes in one answer; the rest is left out")
            return
        yield row


def _only_reads(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    """Columns of tables, and nothing that a view or an expression of the file's own would do."""
    allowed = action in _ALLOWED and trigger is None
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _ways(path: Path) -> tuple[str, ...]:
    """A journal that is not folded in yet holds the newest messages; it is read without touching its index file."""
    journal = path.with_name(path.name + "-wal")
    try:
        has_journal = journal.stat().st_size > 0
    except OSError:
        has_journal = False
    if not has_journal:
        return ("mode=ro&immutable=1",)
    return ("mode=ro&readonly_shm=1", "mode=ro&vfs=unix-none", "mode=ro&immutable=1")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
