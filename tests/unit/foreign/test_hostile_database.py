"""A database that another agent, or somebody in its name, wrote: whatever it holds, reading it ends."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clew.foreign import foreign_database
from clew.foreign.readers.opencode import db_sessions, read
from clew.foreign.session import SkippedPiece

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS time_updated FROM n"
TABLES = """
CREATE TABLE session
  (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INT, time_updated INT);
CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
"""


def database(tmp_path: Path, script: str) -> Path:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(script)
    return path


def sessions(path: Path) -> tuple[list[str], list[SkippedPiece]]:
    problems: list[SkippedPiece] = []
    return [session.session_id for session in db_sessions(path, problems)], problems


def test_a_view_in_the_place_of_a_table_is_not_asked(tmp_path: Path) -> None:
    found, problems = sessions(database(tmp_path, f"CREATE VIEW session AS {ENDLESS};"))
    assert found == []
    assert "no table session" in problems[0].detail


def test_an_expression_of_the_file_is_not_computed(tmp_path: Path) -> None:
    script = "CREATE TABLE session (id TEXT, time_updated INT, big AS (hex(zeroblob(1000))));"
    path = database(tmp_path, f"{script} INSERT INTO session (id, time_updated) VALUES ('a', 1);")
    found, problems = sessions(path)
    assert found == []
    assert problems


def test_a_statement_that_takes_too_long_is_ended_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "INSERT INTO session SELECT hex(randomblob(8)), NULL, '/', 't', '1', 1, random() FROM n LIMIT 200000;"
    filled = f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) {rows}"
    path = database(tmp_path, TABLES + filled)
    monkeypatch.setattr(foreign_database, "BUDGET_S", 0.0)
    found, problems = sessions(path)
    assert found == []
    assert "longer than" in problems[0].detail


def test_more_bytes_than_may_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = database(tmp_path, TABLES + "INSERT INTO session VALUES ('a', NULL, '/', 't', '1', 1, 1);")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO message VALUES ('m', 'a', ?)", ('{"role": "user"}',))
        connection.executemany("INSERT INTO part VALUES (?, 'm', 'a', ?)", [(str(n), '{"x": 1}') for n in range(100)])
    monkeypatch.setattr(foreign_database, "MAX_FILE_BYTES", 200)
    assert any(problem.kind == "too_large" for problem in read(path, session_id="a").problems)


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    """The engine swallows what its callbacks raise; the person's word must not be lost with it."""
    path = database(tmp_path, TABLES)
    program = f"""
import signal, os, pathlib
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
from clew.foreign import foreign_database
from clew.foreign.source import Source
foreign_database._only_reads = lambda *_: 0
foreign_database.STEPS = 1
old = foreign_database.Watchman.look
calls = []
def look(self):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return old(self)
foreign_database.Watchman.look = look
path = pathlib.Path({str(path)!r})
statement = "SELECT * FROM session WHERE id IN ({ENDLESS.replace(", x AS time_updated", "")})"
foreign_database.query(path, statement, (), Source(path))
print("swallowed")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert "swallowed" not in done.stdout
    assert done.returncode in (-signal.SIGINT, 130, 1)
    assert "KeyboardInterrupt" in done.stderr
    assert os.path.exists(path)
