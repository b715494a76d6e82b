"""Which of the user's own words cross a compaction: by place, age and what followed them, in any language."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from clew.engine.compaction.budgets import Budgets
from clew.engine.compaction.framing import clipped
from clew.engine.compaction.receipt import Carried, carried, measured
from clew.engine.compaction.stretches import is_typed
from clew.ledger.calls import tool_name
from clew.ledger.requests import is_reply
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.event_kinds.context import CompactionEnded
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import meant_calls
from clew.protocol.messages import text_of
from clew.transcript.mapping.typed_text import is_interruption, is_prompt, typed

CHARS_PER_TOKEN = 3
BRIEF_CHARS = 240
"""Of a message that finds no room as a whole: its beginning and its end, where people say what must hold."""
REMARKS_SHARE = 0.75
"""Of the budget: what remarks may take before other messages have their turn."""
ASIDES_SHARE = 0.25
"""Of the budget: what single sentences of requests may take that find no room otherwise."""
ASIDE_CHARS = 100
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
NO_WORK = frozenset({"TodoWrite", "Remember"})
"""Calls that only write down what was said."""


def own_words(receipt: CompactionEnded | None, new: Sequence[Entry], budgets: Budgets) -> list[Carried]:
    """Everything that was said, oldest first, each bounded, so that no paste takes the room of all others.

    The first request is the goal, the last one is under way. A remark is what no work followed: rules, wishes and
    facts are said in any words, and the agent only takes note of them.
    """
    found = [Carried(kind=_again(item.kind), text=item.text, source=item.source) for item in carried(receipt, *KINDS)]
    found += [Carried(kind=kind, text=text, source=uuid) for uuid, text, kind in _said(new)]
    asked = [at for at, item in enumerate(found) if not is_reply(item.text)] or list(range(len(found)))
    if asked and not any(item.kind == "goal" for item in found):
        found[asked[0]] = replace(found[asked[0]], kind="goal")
    if asked and found[asked[-1]].kind != "goal":
        found[asked[-1]] = replace(found[asked[-1]], kind="request")
    most = max(200, budgets.words // 6) * CHARS_PER_TOKEN
    last = found[-1] if found else None
    return [
        replace(item, text=clipped(item.text, most * 2 if item.kind == "request" or item is last else most))
        for item in found
    ]


KINDS = ("rule", "goal", "remark", "aside", "words", "request")
"""In receipts; `rule` stands in those of earlier versions."""


def _again(kind: str) -> str:
    """What an item of the last receipt is now."""
    return {"request": "words", "rule": "remark"}.get(kind, kind)


def _said(entries: Sequence[Entry]) -> Iterator[tuple[EntryId, str, str]]:
    """The user's own words with their entries and kinds: without what programs wrapped around them."""
    places = [at for at, entry in enumerate(entries) if is_typed(entry)]
    for at, end in pairwise([*places, len(entries)]):
        entry = entries[at]
        assert isinstance(entry, UserEntry)
        raw = text_of(entry.message.content).strip()
        if raw and not is_interruption(raw) and is_prompt(raw):
            own = typed(raw)[0] if "<" in raw or raw.startswith("/") else raw
            yield entry.uuid, own or raw, "words" if _is_asked(raw) or _worked(entries[at:end]) else "remark"


def _is_asked(text: str) -> bool:
    return text.endswith(("?", "？", "؟"))


def _worked(entries: Iterable[Entry]) -> bool:
    """Whether the agent did more than to answer."""
    return any(
        tool_name(call.name) not in NO_WORK
        for entry in entries
        if isinstance(entry, AssistantEntry)
        for call in meant_calls(entry.message.content)
    )


def _aside(item: Carried) -> str:
    """The shortest sentence of a request of several: the task itself takes more words than what must hold while it is
    done, in any language. Empty: it is one sentence, or none of them is short."""
    if item.kind == "aside":
        return item.text
    found = [sentence.strip() for sentence in _BETWEEN_SENTENCES.split(item.text) if sentence.strip()]
    shortest = min(found, key=len, default="")
    if len(found) < 2 or len(shortest) > ASIDE_CHARS or is_reply(shortest):
        return ""
    return f"… {shortest}"


class WordSelection:
    """Items taken within a budget; what the tail shows is free."""

    def __init__(self, items: Sequence[Carried]) -> None:
        self._items = items
        self._spent = 0
        self.taken: dict[int, Carried] = {at: item for at, item in enumerate(items) if item.is_kept}

    def take(self, places: Iterable[int], limit: float) -> None:
        """Those that fit below the limit: whole, else their beginning and end."""
        for at in places:
            if at in self.taken:
                continue
            item = self._items[at]
            for form in (item, measured(replace(item, text=clipped(item.text, BRIEF_CHARS)))):
                if self._spent + form.tokens <= limit:
                    self.taken[at] = form
                    self._spent += form.tokens
                    break

    def take_asides(self, places: Iterable[int], room: float) -> None:
        """Of each that was not taken one sentence, the shortest first; one that crossed before is such a sentence."""
        asides = {at: aside for at in places if at not in self.taken and (aside := _aside(self._items[at]))}
        limit = self._spent + room
        for at, aside in sorted(asides.items(), key=lambda found: len(found[1])):
            form = measured(replace(self._items[at], text=aside, kind="aside"))
            if self._spent + form.tokens <= limit:
                self.taken[at] = form
                self._spent += form.tokens

    def take_from_both_ends(self, places: Sequence[int], limit: float) -> None:
        """The oldest up to half of the room that is left, so that what was said first stays; then the newest."""
        self.take(places, self._spent + (limit - self._spent) / 2)
        self.take(reversed(places), limit)


def fitting_words(items: Sequence[Carried], budget: int) -> tuple[list[Carried], list[Carried]]:
    """What crosses and what does not, both in their own order. First the request under way and the goal, then remarks,
    then messages that led to work, of those that find no room a sentence, then nods."""
    selection = WordSelection(items)

    def places(*kinds: str, replies: bool = False) -> list[int]:
        return [
            at
            for at, item in enumerate(items)
            if item.kind in kinds and (is_reply(item.text) == replies or item.kind in ("goal", "request"))
        ]

    selection.take(places("request"), budget)
    selection.take(places("goal"), budget)
    selection.take_from_both_ends(places("remark"), budget * REMARKS_SHARE)
    asked = places("words")
    selection.take_from_both_ends(asked, budget * (1 - ASIDES_SHARE))
    selection.take_asides([*places("aside"), *asked], budget * ASIDES_SHARE)
    selection.take_from_both_ends(asked, budget)
    selection.take(reversed(places("remark", "words")), budget)
    selection.take(reversed(places("remark", "words", replies=True)), budget)
    left = [item for at, item in enumerate(items) if at not in selection.taken]
    return [selection.taken[at] for at in sorted(selection.taken)], left
