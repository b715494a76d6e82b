"""Factory Droid: session logs in the message-tree shape."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.listing import below, found
from clew.foreign.readers.message_tree import read_tree
from clew.foreign.session import ForeignSession, ForeignTranscript

AGENT = "droid"


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where Factory Droid keeps its sessions."""
    return (Path(env["FACTORY_HOME"]),) if env.get("FACTORY_HOME") else (user_home / ".factory",)


def discover(home: Path) -> Iterator[ForeignSession]:
    """All session logs below a home."""
    for path in below(home / "sessions", depth=2):
        if path.suffix == ".jsonl":
            yield from found(AGENT, path, path.stem)


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session."""
    return read_tree(path, AGENT)
