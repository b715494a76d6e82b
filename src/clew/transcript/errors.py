"""What can go wrong with the log.

TranscriptError
├── UnsafeTranscript     the path is a link, a pipe, a directory, or belongs to somebody else: never opened
├── SessionBusy          another process writes this session (`owner` says which)
├── LeaseLost            another process took the session over; nothing more may be written here
├── SessionNotFound      no session fits the query
├── AmbiguousSession     several do (`matches`)
└── UnknownEntry         `--resume-session-at` names an entry the history does not hold
"""

from collections.abc import Sequence
from pathlib import Path


class TranscriptError(Exception):
    """`str(error)` is one line for a person: what happened, what was kept, what to do."""


class UnsafeTranscript(TranscriptError):
    """The file is not a regular file of ours."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} {why}; it was not opened. Move it away and try again")
        self.path = path


class SessionBusy(TranscriptError):
    """One writer per session: fork, wait, or take over."""

    def __init__(self, session: str, owner: str) -> None:
        super().__init__(
            f"session {session} is open in {owner}. Fork it (--fork-session), "
            "wait until it is closed (--wait), or take it over (--take-over)"
        )
        self.session = session
        self.owner = owner


class LeaseLost(TranscriptError):
    """This process is no longer the writer."""

    def __init__(self, session: str, owner: str) -> None:
        super().__init__(
            f"session {session} was taken over by {owner}; all that was saved is there. "
            f"Fork it to go on here (--resume {session} --fork-session)"
        )
        self.session = session
        self.owner = owner


class SessionNotFound(TranscriptError):
    """Nothing fits."""


class AmbiguousSession(TranscriptError):
    """Several sessions fit; each match is a line for a person, the id first."""

    def __init__(self, query: str, matches: Sequence[str], count: int = 0) -> None:
        """`count`: how many there are, where only the first are given."""
        listed = "".join(f"\n  {match}" for match in matches)
        more = f"\n  … and {count - len(matches)} more" if count > len(matches) else ""
        super().__init__(f"{count or len(matches)} sessions fit {query!r}; name one by its id:{listed}{more}")
        self.matches = tuple(matches)


class UnknownEntry(TranscriptError):
    """No such entry."""
