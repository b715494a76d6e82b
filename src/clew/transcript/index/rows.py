"""The rows of the index as plain data: what a file is, what a list shows, where a hit stands."""

from collections.abc import Sequence

import msgspec


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that holds a session, as the disk shows it."""

    agent: str
    path: str
    session_id: str
    size: int
    mtime: float
    project: str = ""
    cwd: str = ""
    title: str = ""
    archived: bool = False


class IndexRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session in a list."""

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
    """When the last entry was written, by the entry's own clock."""
    mtime: float = 0.0
    activity: float = 0.0
    """Sorting key, seconds: the file's time, whatever a clock wrote into the entries."""
    state: str = ""
    turns: int = 0
    cost_usd: float | None = None
    size: int = 0
    recap: str = ""
    model: str = ""
    archived: bool = False
    problems: int = 0


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session holds what was asked for."""

    row: IndexRow
    role: str
    uuid: str
    text: str
    spans: tuple[tuple[int, int], ...]
    """Positions of the hits in `text`."""


PLACE = "coalesce(nullif(s.project, ''), s.cwd)"
NAMES = tuple(IndexRow.__struct_fields__)
COLUMNS = ", ".join(f"s.{name}" for name in NAMES)


def filters(agents: Sequence[str], projects: Sequence[str]) -> tuple[str, list[str]]:
    clauses: list[str] = []
    values: list[str] = []
    for column, chosen in (("s.agent", agents), (PLACE, projects)):
        if chosen:
            clauses.append(f"{column} IN ({', '.join('?' for _ in chosen)})")
            values.extend(chosen)
    return (f"WHERE {' AND '.join(clauses)}" if clauses else ""), values


def key_of(source: SourceFile) -> tuple[str, str, str]:
    return source.agent, source.path, source.session_id


def row_of(values: Sequence[object]) -> IndexRow:
    return msgspec.convert(dict(zip(NAMES, values, strict=True)), IndexRow, strict=False)
