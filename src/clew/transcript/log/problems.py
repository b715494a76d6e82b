"""What was skipped while reading, and the one line that says so."""

from collections.abc import Iterable

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
