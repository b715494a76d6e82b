"""How large entries are in the view, each estimated once: a session asks again and again about the same past."""

from collections.abc import Sequence

from clew.engine.compaction.rendering import Slim, without_media
from clew.engine.compaction.stretches import Measure
from clew.llm.estimate import estimate_message
from clew.protocol.entries import Entry
from clew.protocol.ids import CallId, EntryId
from clew.transcript.chain.links import result_calls, uuid_of
from clew.transcript.chain.view import Replacements, messages_of


class Sizes:
    """Keep one for a session. What stands for a result or a picture is part of the key, so a trim is seen."""

    def __init__(self, slim: Slim = without_media) -> None:
        self._slim = slim
        self._known: dict[tuple[EntryId, tuple[str | None, ...], int], int] = {}

    def measure(self, replacements: Replacements) -> Measure:
        """Tokens of entries as the view shows them; media count as what stands for them in a summary."""

        def tokens(entries: Sequence[Entry]) -> int:
            return sum(self._of(entry, replacements) for entry in entries)

        return tokens

    def _of(self, entry: Entry, replacements: Replacements) -> int:
        uuid = uuid_of(entry)
        if uuid is None:
            return self._estimate(entry, replacements)
        stands = tuple(replacements.results.get(CallId(call)) for call in result_calls(entry))
        key = (uuid, stands, len(replacements.media.get(uuid, ())))
        if key not in self._known:
            self._known[key] = self._estimate(entry, replacements)
        return self._known[key]

    def _estimate(self, entry: Entry, replacements: Replacements) -> int:
        return round(sum(map(estimate_message, self._slim(messages_of((entry,), replacements)))))
