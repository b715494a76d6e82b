"""What a reader gives back: where a session lies, what it holds, and what could not be read."""

from pathlib import Path

from msgspec import Struct

from clew.protocol.entries import Entry


class SkippedPiece(Struct, frozen=True, kw_only=True):
    """A piece of a file that was skipped. The file itself is untouched."""

    path: str
    offset: int
    """Byte offset of the damaged piece; 0 when the whole file is meant."""
    kind: str
    """damaged, unfinished (the last line, perhaps still being written), too_long, too_large,
    not_a_file, unreadable, duplicate, orphan, cycle,
    unknown_format or reader_failed."""
    detail: str = ""


class ForeignSession(Struct, frozen=True, kw_only=True):
    """One session as found on disk, before its body was read."""

    agent: str
    path: Path
    session_id: str
    cwd: str = ""
    """Empty when it is not known without reading the body."""
    mtime: float = 0.0
    size: int = 0
    is_subagent: bool = False
    title: str = ""
    parent_session: str = ""


class ForeignMeta(Struct, kw_only=True):
    """What a transcript says about itself. Nothing here grants a right: modes, hooks and servers are not read."""

    title: str = ""
    cwd: str = ""
    model: str = ""
    branch: str = ""
    version: str = ""
    started: str = ""
    updated: str = ""
    parent_session: str = ""
    is_subagent: bool = False
    agent_name: str = ""
    """What a sub-agent was called, or the kind of agent it was."""


class ForeignTranscript(Struct, kw_only=True):
    """One session of another agent in our own entry types, in the order of the conversation."""

    agent: str
    session_id: str
    path: Path
    entries: tuple[Entry, ...]
    """The conversation in view. Entries of sub-agents that the same file holds are marked `is_sidechain`; in a file
    of a sub-agent nothing is marked, since there it is the conversation."""
    meta: ForeignMeta
    problems: tuple[SkippedPiece, ...] = ()
    abandoned: tuple[Entry, ...] = ()
    """Entries the user rewound or edited away."""
