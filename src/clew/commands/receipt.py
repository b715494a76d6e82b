"""The receipt of a compaction in words: two lines, and all of it."""

from collections import Counter
from collections.abc import Iterator

from clew.protocol.event_kinds.context import CompactionEnded, ReceiptItem
from clew.text.figures import count, money

MAX_ROWS = 12
_MAX_TEXT = 100
_ID_CHARS = 8
_NOUNS = {
    "pin": ("pin", "pins"),
    "pinned file": ("pinned file", "pinned files"),
    "rule": ("rule", "rules"),
    "goal": ("goal", "goals"),
    "request": ("last request", "last requests"),
    "words": ("message of yours", "messages of yours"),
    "todo": ("open task", "open tasks"),
    "current todo": ("task in progress", "tasks in progress"),
    "shell": ("running shell", "running shells"),
    "agent": ("running agent", "running agents"),
    "decision": ("decision", "decisions"),
    "file changed": ("changed file", "changed files"),
    "file read": ("read file", "read files"),
    "plan": ("plan", "plans"),
    "mode": ("permission mode", "permission modes"),
    "tool": ("tool", "tools"),
    "section": ("section", "sections"),
    "section title": ("title of an older section", "titles of older sections"),
}
_FATES = {
    "carried": "Carried word for word",
    "summarised": "Summarised",
    "left": "Left the view (the log keeps it)",
    "cleared": "Cleared from the view (the log keeps it)",
}


def receipt_lines(event: CompactionEnded) -> tuple[str, str]:
    """What became smaller and at what price; what was carried, and the ways back."""
    cost = f", {money(event.cost_usd)}" if event.cost_usd is not None else ""
    summarised = [item for item in event.items if item.fate == "summarised"]
    told = f", {_counted(summarised)}" if summarised else ""
    first = f"Compacted ({event.kind}): {_sizes(event)}{told}{cost}."
    carried = [item for item in event.items if item.fate == "carried"]
    kept = f"Carried word for word: {_counted(carried)}." if carried else "Nothing had to be carried."
    return first, f"{kept} /compact undo brings the old view back; /recall <text|id> finds what left."


def receipt_details(event: CompactionEnded) -> tuple[str, ...]:
    """All items by their fate, each with the id of where it came from and its size."""
    return (*receipt_lines(event), *_groups(event))


def _groups(event: CompactionEnded) -> Iterator[str]:
    if event.focus:
        yield f"Focus: {_short(event.focus)}"
    if event.kept is not None:
        yield f"Kept as it is: {event.kept.head[:_ID_CHARS]} to {event.kept.tail[:_ID_CHARS]}"
    for fate, words in _FATES.items():
        items = [item for item in event.items if item.fate == fate]
        if items:
            yield f"{words} ({sum(item.tokens for item in items):,} tokens):"
            yield from map(_row, items[:MAX_ROWS])
            if len(items) > MAX_ROWS:
                yield f"  and {len(items) - MAX_ROWS:,} more"


def _row(item: ReceiptItem) -> str:
    source = f"{item.source[:_ID_CHARS]}  " if item.source else ""
    return f"  {source}{item.kind}: {_short(item.text)} ({item.tokens:,})"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_TEXT else flat[: _MAX_TEXT - 1] + "…"


def _sizes(event: CompactionEnded) -> str:
    before, after = event.tokens_before, event.tokens_after
    if before is None or after is None:
        return "sizes unknown"
    share = f" (-{round(100 * (before - after) / before)} %)" if before > after else ""
    return f"{before:,} to {after:,} tokens{share}"


def _counted(items: list[ReceiptItem]) -> str:
    kinds = Counter(item.kind for item in items)
    return ", ".join(count(number, *_NOUNS.get(kind, (kind, kind))) for kind, number in kinds.items())
