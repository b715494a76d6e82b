"""Sessions touched lately, ours and other agents', from the files themselves: nothing is indexed or read for it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from clew.catalog.found_session import OWN, FoundSession
from clew.foreign.registry import discover
from clew.transcript.log.store import SessionStore

MAX_ROWS = 40


class Board(Struct, frozen=True, kw_only=True):
    """What was found, and how much was left out."""

    found: tuple[FoundSession, ...]
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
    found = sorted(_all(home, agents=agents, homes=homes, env=env), key=lambda item: (-item.changed_s, str(item.path)))
    fresh = [item for item in found if item.changed_s >= since_s]
    return Board(found=tuple(fresh[:limit]), left_out=max(0, len(fresh) - limit))


def _all(
    home: Path, *, agents: Sequence[str] | None, homes: Mapping[str, Path] | None, env: Mapping[str, str] | None
) -> Iterator[FoundSession]:
    if agents is None or OWN in agents:
        yield from _ours((homes or {}).get(OWN, home))
    others = None if agents is None else [name for name in agents if name != OWN]
    if others is None or others:
        for item in discover(homes, env, agents=others, folders=SessionStore(home).project_roots()):
            if not item.is_subagent:
                yield FoundSession(
                    agent=item.agent, path=item.path, session_id=item.session_id, changed_s=item.mtime, size=item.size
                )


def _ours(home: Path) -> Iterator[FoundSession]:
    for path in SessionStore(home).sessions():
        try:
            info = path.stat()
        except OSError:
            continue
        yield FoundSession(agent=OWN, path=path, session_id=path.stem, changed_s=info.st_mtime, size=info.st_size)
