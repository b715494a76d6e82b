"""opencode's SQLite database, opened so that not a byte of it or of its journal changes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from clew.foreign.session import ForeignSession, Problem
from clew.foreign.shapes import Json, as_dict, as_int, as_str
from clew.foreign.source import Source

_AGENT = "opencode"


def db_sessions(path: Path, problems: list[Problem] | None = None) -> Iterator[ForeignSession]:
    """The sessions a database lists; none, with a problem, when it cannot be read."""
    source = Source(path)
    if problems is not None:
        source.problems = problems
    for row in _query(path, "SELECT * FROM session ORDER BY time_updated DESC", (), source):
        parent = as_str(row.get("parent_id"))
        updated = row.get("time_updated")
        yield ForeignSession(
            agent=_AGENT,
            path=path,
            session_id=as_str(row.get("id")),
            cwd=as_str(row.get("directory")),
            mtime=as_int(updated) / 1000,
            is_subagent=bool(parent),
            parent_session=parent,
            title=as_str(row.get("title")),
        )


def load_db(path: Path, session_id: str, source: Source) -> tuple[Json, list[tuple[Json, list[Json]]]]:
    """Info and messages of one session, the most recent one of its own when none is named."""
    if session_id:
        rows = _query(path, "SELECT * FROM session WHERE id = ?", (session_id,), source)
    else:
        rows = _query(path, "SELECT * FROM session ORDER BY (parent_id IS NOT NULL), time_updated DESC", (), source)
    if not rows:
        return {"id": session_id}, []
    row = rows[0]
    session = as_str(row.get("id"))
    info: Json = {
        "id": session,
        "directory": row.get("directory"),
        "title": row.get("title"),
        "version": row.get("version"),
        "parentID": row.get("parent_id"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }
    parts: dict[str, list[Json]] = {}
    for part in _query(path, "SELECT * FROM part WHERE session_id = ? ORDER BY id", (session,), source):
        parts.setdefault(as_str(part.get("message_id")), []).append(_data(part, source))
    messages = _query(path, "SELECT * FROM message WHERE session_id = ? ORDER BY id", (session,), source)
    return info, [(_data(message, source), parts.get(as_str(message.get("id")), [])) for message in messages]


def _data(row: Json, source: Source) -> Json:
    raw: Any = row.get("data")
    body = raw if isinstance(raw, bytes) else as_str(raw).encode("utf-8", "replace")
    return {"id": row.get("id"), **as_dict(source.decode(body))}


def _query(path: Path, statement: str, values: tuple[str, ...], source: Source) -> list[Json]:
    problem = ""
    for options in _ways(path):
        try:
            with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?{options}", uri=True)) as connection:
                connection.text_factory = _text
                if "unix-none" in options:
                    # Keeps the journal's index in memory instead of in a file beside it.
                    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
                cursor = connection.execute(statement, values)
                columns = [column[0] for column in cursor.description]
                return [dict(zip(columns, row, strict=True)) for row in cursor]
        except sqlite3.Error as error:
            problem = str(error)
    source.note("damaged", 0, problem)
    return []


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
