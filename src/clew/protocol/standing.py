"""Where a session stands: one set of words for every view."""

from enum import StrEnum


class Standing(StrEnum):
    """After its last entry. Working and waiting need a live writer; without one such a session was interrupted."""

    WORKING = "working"
    WAITING = "waiting"
    """For an approval."""
    ASKING = "asking"
    IDLE = "idle"
    """With nothing open, people read "finished"."""
    INTERRUPTED = "interrupted"
    LIMITED = "limited"
    FAILED = "failed"
