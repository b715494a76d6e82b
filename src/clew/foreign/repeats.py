"""Texts that an agent writes twice (as a record and as an event) count once."""

from collections import Counter


class Repeats:
    """Counts what each kind of record told. A text is new when one kind tells it more often than any did before."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], Counter[str]] = {}

    def is_new(self, role: str, text: str, source: str) -> bool:
        """Whether `source` says something that the other sources have not said already."""
        counts = self._told.setdefault((role, text), Counter())
        most = max(counts.values(), default=0)
        counts[source] += 1
        return counts[source] > most

    def forget(self) -> None:
        """Start anew: after a compaction the same words may be said again."""
        self._told.clear()
