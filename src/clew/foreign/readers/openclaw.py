"""OpenClaw: session logs in the message-tree shape."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from clew.foreign.listing import below, found
from clew.foreign.readers.message_tree import read_tree
from clew.foreign.session import ForeignSession, ForeignTranscript

AGENT = "openclaw"


def homes(env: Mapping[str, str], user_home: Path) -> tuple[Path, ...]:
    """Where OpenClaw keeps its sessions."""
    return (Path(env["OPENCLAW_STATE_DIR"]),) if env.get("OPENCLAW_STATE_DIR") else (user_home / ".openclaw",)


def discover(home: Path) -> Iterator[ForeignSession]:
    """All session logs below a home."""
    for path in below(home / "agents", depth=3):
        if path.suffix == ".jsonl":
            yield from found(AGENT, path, path.stem)


def read(path: Path, *, agent: str = AGENT, session_id: str = "") -> ForeignTranscript:
    """One session."""
    return read_tree(path, AGENT)
