"""The board: every session touched lately, ours and other agents', newest first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from clew.foreign.registry import discover
from clew.orient.form import Form, Item
from clew.orient.report import RecapCache, Report
from clew.transcript.store import SessionStore

MAX_ROWS = 40
MAX_BYTES = 64 * 1024 * 1024
"""A larger file is listed without being read."""


class Found(Struct, frozen=True, kw_only=True):
    """A session on disk, before its body was read."""

    agent: str
    path: Path
    session_id: str
    mtime: float
    size: int


class Board(Struct, frozen=True, kw_only=True):
    """What was found, and how much was left out."""

    found: tuple[Found, ...]
    left_out: int


def recent(
    home: Path,
    *,
    since_s: float,
    agents: Sequence[str] | None = None,
    homes: Mapping[str, Path] | None = None,
    env: Mapping[str, str] | None = None,
    limit: int = MAX_ROWS,
) -> Board:
    """Sessions changed after `since_s`, newest first; sub-agents are part of their session and not listed."""
    found = sorted(_all(home, agents=agents, homes=homes, env=env), key=lambda item: (-item.mtime, str(item.path)))
    fresh = [item for item in found if item.mtime >= since_s]
    return Board(found=tuple(fresh[:limit]), left_out=max(0, len(fresh) - limit))


def _all(
    home: Path, *, agents: Sequence[str] | None, homes: Mapping[str, Path] | None, env: Mapping[str, str] | None
) -> Iterator[Found]:
    if agents is None or "clew" in agents:
        yield from _ours((homes or {}).get("clew", home))
    others = None if agents is None else [name for name in agents if name != "clew"]
    if others is None or others:
        for item in discover(homes, env, agents=others, folders=SessionStore(home).project_roots()):
            if not item.is_subagent:
                yield Found(
                    agent=item.agent, path=item.path, session_id=item.session_id, mtime=item.mtime, size=item.size
                )


def _ours(home: Path) -> Iterator[Found]:
    for path in SessionStore(home).sessions():
        try:
            info = path.stat()
        except OSError:
            continue
        yield Found(agent="clew", path=path, session_id=path.stem, mtime=info.st_mtime, size=info.st_size)


def rows(found: Iterable[Found], cache: RecapCache) -> Iterator[Report]:
    """The rows one by one, so that the first is seen before the last is read. Sessions without a word are left out."""
    for item in found:
        if item.size > MAX_BYTES:
            yield _unread(item)
            continue
        try:
            report = cache.report(
                item.path, agent=item.agent, session_id="" if item.agent == "clew" else item.session_id
            )
        except OSError:
            continue  # it went away, or is not ours to read, between the listing and now
        if report.text:
            yield report


def _unread(item: Found) -> Report:
    """A row that names a file too large for an overview, and how to read it."""
    words = f"{item.size // 1_000_000} MB, not read for this list; `clew recap {item.path}` reads it."
    return Report(
        file=str(item.path),
        agent=item.agent,
        session=item.session_id,
        project="",
        title="",
        updated_s=item.mtime,
        entries=0,
        form=Form(items=(Item(field="task", text=words),)),
        problem="too large for the list",
    )
