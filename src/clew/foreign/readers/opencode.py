"""opencode: exports, the storage trees of its file versions, and the database it keeps now."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clew.foreign.build import Builder
from clew.foreign.foreign_database import query
from clew.foreign.listing import entries_in, found
from clew.foreign.readers.opencode_parts import is_placeholder_title, reply, user_message
from clew.foreign.session import ForeignSession, ForeignTranscript, SkippedPiece
from clew.foreign.shapes import Json, as_dict, as_int, as_str, dicts
from clew.foreign.source import Source

_AGENT = "opencode"


def db_sessions(path: Path, problems: list[SkippedPiece] | None = None) -> Iterator[ForeignSession]:
    """The sessions a database lists; none, with a problem, when it cannot be read."""
    source = Source(path)
    if problems is not None:
        source.problems = problems
    for row in query(path, "SELECT * FROM session ORDER BY time_updated DESC", (), source):
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
        rows = query(path, "SELECT * FROM session WHERE id = ?", (session_id,), source)
    else:
        rows = query(path, "SELECT * FROM session ORDER BY (parent_id IS NOT NULL), time_updated DESC", (), source)
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
    for part in query(path, "SELECT * FROM part WHERE session_id = ? ORDER BY id", (session,), source):
        parts.setdefault(as_str(part.get("message_id")), []).append(_data(part, source))
    messages = query(path, "SELECT * FROM message WHERE session_id = ? ORDER BY id", (session,), source)
    return info, [(_data(message, source), parts.get(as_str(message.get("id")), [])) for message in messages]


def _data(row: Json, source: Source) -> Json:
    raw: Any = row.get("data")
    body = raw if isinstance(raw, bytes) else as_str(raw).encode("utf-8", "replace")
    return {"id": row.get("id"), **as_dict(source.decode(body))}


AGENT = "opencode"


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where opencode keeps its sessions."""
    data = Path(env["XDG_DATA_HOME"]) if env.get("XDG_DATA_HOME") else user_home / ".local" / "share"
    database = Path(env.get("OPENCODE_DB") or "")
    return (data / "opencode", *((database.parent,) if database.is_absolute() else ()))


def discover(home: Path) -> Iterator[ForeignSession]:
    """Sessions of the databases first; the file trees add what was not migrated."""
    seen: set[str] = set()
    problems: list[SkippedPiece] = []
    for path in entries_in(home):
        if path.name.startswith("opencode") and path.suffix == ".db":
            for session in db_sessions(path, problems):
                seen.add(session.session_id)
                yield session
    for info in _session_files(home):
        if info.stem not in seen:
            seen.add(info.stem)
            yield from found(AGENT, info, info.stem)
    for path in entries_in(home / "exports"):
        if path.suffix == ".json" and path.stem not in seen:
            yield from found(AGENT, path, path.stem)
    if problems:
        # Told only now, so that a damaged database hides nothing that lies beside it.
        raise OSError(f"{problems[0].path}: {problems[0].detail}")


def in_file(path: Path) -> Iterator[ForeignSession]:
    """The sessions of a database, given by its file or the folder it lies in."""
    path = path / "opencode.db" if path.is_dir() else path
    return db_sessions(path) if path.suffix == ".db" else iter(())


def _session_files(home: Path) -> Iterator[Path]:
    for project in entries_in(home / "storage" / "session"):
        yield from (path for path in entries_in(project) if path.suffix == ".json")
    for project in entries_in(home / "project"):
        folder = project / "storage" / "session" / "info"
        yield from (path for path in entries_in(folder) if path.suffix == ".json")


class _Message(NamedTuple):
    info: Json
    parts: list[Json]


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session from an export, a storage tree, or the database."""
    source = Source(path)
    if path.is_dir():
        path = _only_session(path) or path
        source = Source(path)
    if path.suffix == ".db":
        info, rows = load_db(path, session_id, source)
        messages = [_Message(message, parts) for message, parts in rows]
    else:
        info, messages = _from_json(as_dict(source.value()), path, source)
    return _convert(info, messages, path, source)


def read_all(path: Path) -> tuple[ForeignTranscript, ...]:
    """Every session of a database; of a file, its one session."""
    if path.suffix != ".db":
        return (read(path),)
    return tuple(read(path, session_id=session.session_id) for session in db_sessions(path)) or (read(path),)


def _only_session(folder: Path) -> Path | None:
    """For a folder: its database, or the newest session file below it."""
    if (folder / "opencode.db").is_file():
        return folder / "opencode.db"
    roots = (folder, folder.parent, folder / "..")
    files = [path for root in roots for path in _session_files(root)]
    return max(files, key=lambda path: path.stat().st_mtime, default=None)


def _from_json(value: Json, path: Path, source: Source) -> tuple[Json, list[_Message]]:
    if isinstance(value.get("messages"), list):
        found_messages = [
            _Message(as_dict(message.get("info")), list(dicts(message.get("parts"))))
            for message in dicts(value["messages"])
        ]
        return as_dict(value.get("info")), found_messages
    if "role" in value:
        parts = _objects(path.parents[2] / "part" / path.stem, source) if len(path.parents) > 2 else []
        return {"id": as_str(value.get("sessionID"))}, [_Message(value, parts)]
    if "messageID" in value or "type" in value:
        role = "assistant" if value.get("type") != "text" or "time" in value else "user"
        return {"id": as_str(value.get("sessionID"))}, [_Message({"role": role}, [value])]
    return value, _stored_messages(value, path, source)


def _stored_messages(info: Json, path: Path, source: Source) -> list[_Message]:
    session = as_str(info.get("id")) or path.stem
    if path.parent.name == "info":
        root = path.parent.parent
        part_folders = root / "part" / session
    else:
        root = path.parents[2] if len(path.parents) > 2 else path.parent
        part_folders = root / "part"
    messages: list[_Message] = []
    for message in _objects(root / "message" / session, source):
        messages.append(_Message(message, _objects(part_folders / as_str(message.get("id")), source)))
    return messages


def _objects(folder: Path, source: Source) -> list[Json]:
    """The JSON objects of a folder, by file name; ids sort by time."""
    values: list[Json] = []
    for path in entries_in(folder):
        if path.suffix == ".json":
            piece = Source(path)
            value = as_dict(piece.value())
            source.problems.extend(piece.problems)
            if value:
                values.append({"id": path.stem, **value})
    return values


def _convert(info: Json, messages: list[_Message], path: Path, source: Source) -> ForeignTranscript:
    times = as_dict(info.get("time"))
    build = Builder(AGENT, as_str(info.get("id")) or path.stem, started=times.get("created"))
    meta = build.meta
    meta.cwd = as_str(info.get("directory"))
    meta.version = as_str(info.get("version"))
    meta.parent_session = as_str(info.get("parentID"))
    meta.is_subagent = bool(meta.parent_session)
    for message in messages:
        _message(build, message)
    title = as_str(info.get("title"))
    if not is_placeholder_title(title):
        build.title(title)
    build.at(times.get("updated"))
    return build.transcript(path, source.problems)


def _message(build: Builder, message: _Message) -> None:
    info = message.info
    build.at(as_dict(info.get("time")).get("created"))
    build.meta.cwd = as_str(as_dict(info.get("path")).get("cwd")) or build.meta.cwd
    match info.get("role"):
        case "user":
            user_message(build, message.parts)
        case "assistant":
            reply(build, info, message.parts)
        case role:
            build.opaque(as_str(role) or "message", {"info": info, "parts": message.parts})
