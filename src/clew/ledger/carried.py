"""What crossed a compaction, read from its receipt: facts of entries that a resumed session does not read any more."""

from collections.abc import Iterable

from clew.ledger.facts import Rule
from clew.ledger.language import LanguageFold
from clew.ledger.requests import RequestsFold
from clew.ledger.rules import RulesFold
from clew.ledger.work import WorkFold
from clew.protocol.display import TodoItem
from clew.protocol.event_kinds.context import CompactionEnded, ReceiptItem
from clew.protocol.ids import EntryId

_WORDS = ("goal", "words", "request")
_FILES = ("file changed", "file read")
_TODOS = {"current todo": "in_progress", "todo": "pending"}


class CarriedFold:
    """Puts before everything known what a receipt tells and no entry told. The newest entries of a session may stand
    before the receipt, because they were kept word for word."""

    def __init__(self) -> None:
        self._taken: set[EntryId] = set()

    def feed(
        self,
        receipt: CompactionEnded,
        known: Iterable[EntryId],
        requests: RequestsFold,
        rules: RulesFold,
        language: LanguageFold,
        work: WorkFold,
    ) -> None:
        """Take what has a source that is not among the `known` entries."""
        told = set(known) | self._taken
        new = [item for item in receipt.items if item.fate == "carried" and item.source and item.source not in told]
        self._taken.update(item.source for item in new if item.source)
        words = _of(new, *_WORDS)
        asked = bool(requests.all())
        requests.before((text, source) for text, source, _ in words)
        language.before(text for text, _, _ in words)
        rules.before(Rule(text=text, source=(source,)) for text, source, _ in _of(new, "rule"))
        for path, source, kind in _of(new, *_FILES):
            work.files.carry(path, (source,), changed=kind == "file changed")
        for text, source, _ in _of(new, "plan"):
            work.todos.carry_plan(text, (source,))
        todos = _of(new, *_TODOS)
        if todos:
            # A list from before a request that the tail still shows belongs to an earlier one.
            items = tuple(TodoItem(content=text[:300], status=_TODOS[kind]) for text, _, kind in todos)
            work.todos.carry(items, (todos[-1][1],), turn=-1 if asked else requests.turn)


def _of(items: Iterable[ReceiptItem], *kinds: str) -> list[tuple[str, EntryId, str]]:
    return [(item.text, item.source, item.kind) for item in items if item.kind in kinds and item.source]
