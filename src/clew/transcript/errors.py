"""What can go wrong with the log.

TranscriptError
├── UnsafeTranscript     the path is a link, a pipe, a directory, or belongs to somebody else: never opened
├── SessionBusy          another process writes this session (`owner` says which)
├── LeaseLost            another process took the session over; nothing more may be written here
├── SessionNotFound      no session fits the query
├── AmbiguousSession     several do (`matches`)
└── UnknownEntry         `--resume-session-at` names an entry the history does not hold

What was skipped while reading, and the one line that says so.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

_WORDS = {
    "torn": "torn line",
    "not-json": "damaged line",
    "nul-bytes": "line of NUL bytes",
    "not-object": "line that is no entry",
    "too-deep": "line nested too deep",
    "too-long": "line too long to read",
    "bad-text": "line with broken text",
    "bad-entry": "entry with odd fields",
    "no-id": "entry without an id",
    "duplicate": "repeated entry that differs from the first",
    "cycle": "loop in the history",
    "orphan": "entry whose parent is missing",
    "other-session": "entry of another session",
    "segment": "preserved segment that does not fit",
    "cut": "history too large for any model, oldest part left out of view",
    "unreadable": "file that could not be read",
}


class Problem(Struct, frozen=True, kw_only=True):
    """Something in a file that could not be used. The bytes stay where they are."""

    path: str
    offset: int
    """Byte position of the line."""
    kind: str
    detail: str = ""

    @property
    def harmless(self) -> bool:
        """The entry was used all the same."""
        return self.kind in {"bad-text", "bad-entry", "cut"}


def describe(problems: Iterable[Problem]) -> str:
    """One line for the user, empty when there is nothing to say: "2 torn lines skipped (…jsonl, byte 512)"."""
    counts: dict[str, int] = {}
    first: Problem | None = None
    for problem in problems:
        first = first or problem
        counts[problem.kind] = counts.get(problem.kind, 0) + 1
    if first is None:
        return ""
    parts = [
        f"{count} {_WORDS.get(kind, kind)}" if count == 1 else f"{count} × {_WORDS.get(kind, kind)}"
        for kind, count in counts.items()
    ]
    name = first.path.rsplit("/", 1)[-1]
    return f"{', '.join(parts)} (first: {name}, byte {first.offset}); the file is unchanged"


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
