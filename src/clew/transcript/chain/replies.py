"""Which entries are parts of one reply. Message ids alone do not say: some servers use the same id again and again."""

from collections.abc import Mapping, Sequence

from clew.protocol.entries import AssistantEntry, Entry
from clew.protocol.ids import EntryId
from clew.transcript.chain.links import parent_of, result_calls

Reply = tuple[str, str]
"""A message id, and the entry that the reply as a whole hangs under."""


class Replies:
    """Parts belong together when they share an id and hang under each other, or under the same entry."""

    def __init__(self, entries: Sequence[Entry], at: Mapping[EntryId, int]) -> None:
        self._entries = entries
        self._at = at
        self._roots: dict[int, str] = {}

    def of(self, number: int) -> Reply:
        """The reply that the assistant entry at `number` is a part of."""
        entry = self._entries[number]
        assert isinstance(entry, AssistantEntry)
        steps: list[int] = []
        at = number
        root = ""
        while True:
            if at in self._roots:
                root = self._roots[at]
                break
            if at in steps:
                break  # a loop, reported by the walk
            steps.append(at)
            before = self._part_before(at)
            if before is None:
                root = parent_of(self._entries[at]) or ""
                break
            at = before
        for step in steps:
            self._roots[step] = root
        return entry.message.id or f"({number})", root

    def _part_before(self, number: int) -> int | None:
        """The part of the same reply that this one follows."""
        entry = self._entries[number]
        above = self._above(number)
        if above is None or not isinstance(entry, AssistantEntry):
            return None
        if self._same_reply(entry, above):
            return above
        if not result_calls(self._entries[above]):
            return None
        # A result may stand between two parts, but the next reply follows results too: only what the line says of
        # its request can tell. A line without content carries the usage of the reply before it.
        asking = self._above(above)
        if asking is None or not self._same_reply(entry, asking):
            return None
        return asking if entry.request_id or not entry.message.content else None

    def _same_reply(self, entry: AssistantEntry, number: int) -> bool:
        other = self._entries[number]
        if not isinstance(other, AssistantEntry) or other.message.id != entry.message.id or not entry.message.id:
            return False
        return not entry.request_id or not other.request_id or entry.request_id == other.request_id

    def _above(self, number: int) -> int | None:
        parent = parent_of(self._entries[number])
        return self._at.get(parent) if parent is not None else None
