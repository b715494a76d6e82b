"""A session on disk, however it was found."""

from pathlib import Path

import msgspec

OWN = "clew"
"""The agent whose sessions can be gone on with in place: us."""


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session on disk. A file may hold several: `path` and `session_id` together name it."""

    agent: str
    path: Path
    session_id: str
    title: str = ""
    project: str = ""
    changed_s: float = 0.0
    size: int = 0
    """Of the file."""
    note: str = ""
    """One line for a person, when the choice was not theirs alone."""

    @property
    def is_ours(self) -> bool:
        """Whether it can be gone on with in place; every other one is only read."""
        return self.agent == OWN
