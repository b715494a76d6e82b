"""The tables of the index. A change of shape changes the version, and the file is built anew."""

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
