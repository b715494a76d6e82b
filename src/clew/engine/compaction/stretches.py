"""A chain cut at its natural borders: exchanges, the tail that stays word for word, the stretches without a section."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set

from msgspec import Struct

from clew.protocol.entries import AssistantEntry, Entry, SystemEntry, TurnResultEntry, UserEntry
from clew.protocol.event_kinds.context import KeptSegment, SectionKept
from clew.protocol.ids import EntryId
from clew.protocol.messages import tool_calls
from clew.transcript.chain.links import is_boundary, parent_of, result_calls, uuid_of

Measure = Callable[[Sequence[Entry]], int]
"""Tokens of some entries, as they stand in the view."""


class Exchange(Struct, frozen=True, kw_only=True):
    """What was put in, the reply to it with all its parts, and the results of its calls. Never cut in two."""

    entries: tuple[Entry, ...]
    tokens: int
    is_asked: bool
    """The user's own words are in it."""

    @property
    def ids(self) -> tuple[EntryId, ...]:
        """The links of the chain that it holds, in order."""
        return tuple(uuid for entry in self.entries if (uuid := uuid_of(entry)) is not None)


class Tail(Struct, frozen=True, kw_only=True):
    """The newest exchanges, which stay as they are; `start` is the number of the first of them."""

    start: int
    segment: KeptSegment | None
    tokens: int


class Cut(Struct, frozen=True, kw_only=True):
    """A chain divided: pieces for sections, oldest first, and the tail behind them."""

    pieces: tuple[SectionKept | tuple[Exchange, ...], ...]
    """A section that covers its exchanges, or exchanges that still need one."""
    tail: Tail
    kept: tuple[Exchange, ...]
    """The exchanges of the tail."""

    @property
    def stretches(self) -> tuple[tuple[Exchange, ...], ...]:
        """What no section covers."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, SectionKept))


def exchanges_of(chain: Sequence[Entry], measure: Measure) -> tuple[Exchange, ...]:
    """The exchanges of a chain in its order. Boundaries and earlier summaries belong to none."""
    groups: list[list[Entry]] = []
    reply: str | None = None
    for entry in chain:
        if is_boundary(entry) or (isinstance(entry, UserEntry) and entry.is_compact_summary):
            reply = None
            if groups and groups[-1]:
                groups.append([])
            continue
        if _is_reply(entry):
            assert isinstance(entry, AssistantEntry)
            if reply is not None and entry.message.id != reply:
                groups.append([])
            reply = entry.message.id
        elif _is_input(entry) and reply is not None:
            groups.append([])
            reply = None
        if not groups:
            groups.append([])
        groups[-1].append(entry)
    whole = _rejoined([group for group in groups if group])
    return tuple(
        Exchange(entries=tuple(group), tokens=measure(group), is_asked=any(map(is_typed, group))) for group in whole
    )


def is_typed(entry: Entry) -> bool:
    """Whether somebody asks here: a person, or for a child agent the agent that started it."""
    if not isinstance(entry, UserEntry) or entry.is_meta or entry.is_compact_summary or result_calls(entry):
        return False
    return entry.origin in ("user", "schedule") or (entry.origin == "agent" and entry.is_sidechain)


def refused_prompts(entries: Sequence[Entry], reasons: Collection[str]) -> list[EntryId]:
    """The prompts since the last reply whose turns ended for one of these reasons, before anything was said."""
    refused: list[EntryId] = []
    waiting: list[EntryId] = []
    for entry in entries:
        if _is_reply(entry):
            refused, waiting = [], []
        elif isinstance(entry, UserEntry) and not result_calls(entry):
            waiting.append(entry.uuid)
        elif isinstance(entry, TurnResultEntry):
            if entry.reason in reasons:
                refused += waiting
            waiting = []
    return refused


def _is_reply(entry: Entry) -> bool:
    return isinstance(entry, AssistantEntry) and not entry.is_api_error_message


def _is_input(entry: Entry) -> bool:
    return not isinstance(entry, AssistantEntry | SystemEntry) and not result_calls(entry)


def _rejoined(groups: list[list[Entry]]) -> list[list[Entry]]:
    """Groups that share a reply or a call and its result are one, with all that stands between them."""
    home: dict[str, int] = {}
    joins: dict[int, int] = {}
    for number, group in enumerate(groups):
        for entry in group:
            keys = [f"call {call}" for call in result_calls(entry)]
            if isinstance(entry, AssistantEntry):
                keys = [f"reply {entry.message.id}"]
                home.update({f"call {call.id}": number for call in tool_calls(entry.message.content)})
            for key in keys:
                first = home.setdefault(key, number)
                if first < number:
                    joins[number] = min(first, joins.get(number, first))
    whole: list[list[Entry]] = []
    begins: list[int] = []
    for number, group in enumerate(groups):
        whole.append(list(group))
        begins.append(number)
        reach = joins.get(number, number)
        while begins[-1] > reach:
            tail = whole.pop()
            begins.pop()
            whole[-1].extend(tail)
    return whole


def cut(
    chain: Sequence[Entry],
    entries: Iterable[Entry],
    *,
    measure: Measure,
    sections: Sequence[SectionKept] = (),
    tail_tokens: int,
    half_window: int,
) -> Cut:
    """Divide a chain. `entries`: all that are known, for their parents. The tail begins at the last prompt where that
    leaves enough to gain from, is at most half of the window, and never crosses an earlier boundary."""
    exchanges = exchanges_of(chain, measure)
    parents = {uuid: parent_of(entry) for entry in entries if (uuid := uuid_of(entry)) is not None}
    total = sum(item.tokens for item in exchanges)
    budget = min(tail_tokens, half_window, total * 3 // 10)
    tail = find_tail(exchanges, parents, budget=budget, half_window=half_window, half_view=total // 2)
    places = {uuid: number for number, item in enumerate(exchanges) for uuid in item.ids}
    covers = _covers(sections, places, exchanges)
    start = tail.start
    for section, (first, last) in list(covers.items()):
        if last >= start:
            asked = max((number for number, item in enumerate(exchanges) if item.is_asked), default=-1)
            if first < start and last < len(exchanges) - 1 and last < asked:
                tail = _tail_from(exchanges, _passed(exchanges, parents), last + 1)
                start = tail.start
            if last >= start:
                del covers[section]
    tail = _with_rest(exchanges, parents, tail, covers, slack=budget // 2, half_window=half_window)
    return Cut(pieces=_pieces(exchanges[: tail.start], covers), tail=tail, kept=exchanges[tail.start :])


def _with_rest(
    exchanges: Sequence[Exchange],
    parents: Mapping[EntryId, EntryId | None],
    tail: Tail,
    covers: Mapping[SectionKept, tuple[int, int]],
    *,
    slack: int,
    half_window: int,
) -> Tail:
    """The tail with what little lies between it and the last section: keeping that costs less than asking about it,
    and a compaction that was prepared need not wait."""
    covered = max((last for _, last in covers.values()), default=-1) + 1
    rest = sum(item.tokens for item in exchanges[covered : tail.start])
    if not covered or covered >= tail.start or rest > slack or rest + tail.tokens > half_window:
        return tail
    longer = _tail_from(exchanges, _passed(exchanges, parents), covered)
    return longer if longer.segment is not None else tail


def _covers(
    sections: Sequence[SectionKept], places: Mapping[EntryId, int], exchanges: Sequence[Exchange]
) -> dict[SectionKept, tuple[int, int]]:
    """Which exchanges each section stands for. One that begins or ends inside an exchange stands for none."""
    covers: dict[SectionKept, tuple[int, int]] = {}
    taken: set[int] = set()
    for section in sections:
        first, last = places.get(section.first), places.get(section.last)
        if first is None or last is None or first > last or taken.intersection(range(first, last + 1)):
            continue
        if exchanges[first].ids[0] == section.first and exchanges[last].ids[-1] == section.last:
            covers[section] = (first, last)
            taken.update(range(first, last + 1))
    return covers


def _pieces(
    exchanges: Sequence[Exchange], covers: Mapping[SectionKept, tuple[int, int]]
) -> tuple[SectionKept | tuple[Exchange, ...], ...]:
    starts = {first: (section, last) for section, (first, last) in covers.items()}
    pieces: list[SectionKept | tuple[Exchange, ...]] = []
    open_run: list[Exchange] = []
    number = 0
    while number < len(exchanges):
        if number in starts:
            if open_run:
                pieces.append(tuple(open_run))
                open_run = []
            section, last = starts[number]
            pieces.append(section)
            number = last + 1
        else:
            open_run.append(exchanges[number])
            number += 1
    if open_run:
        pieces.append(tuple(open_run))
    return tuple(pieces)


def find_tail(
    exchanges: Sequence[Exchange],
    parents: Mapping[EntryId, EntryId | None],
    *,
    budget: int,
    half_window: int,
    half_view: int,
) -> Tail:
    """The newest exchanges that fit the budget; more when the last prompt needs it; none when none can be kept."""
    passed = _passed(exchanges, parents)
    start = len(exchanges)
    tokens = 0
    for number in range(len(exchanges) - 1, -1, -1):
        tokens += exchanges[number].tokens
        if tokens > budget or _head(exchanges[number], passed) is None:
            break
        start = number
    asked = max((number for number, item in enumerate(exchanges) if item.is_asked), default=None)
    if asked is not None and asked < start:
        needed = sum(item.tokens for item in exchanges[asked:])
        if needed <= min(half_window, half_view) and _head(exchanges[asked], passed) is not None:
            start = asked
    if start == len(exchanges) and exchanges and exchanges[-1].tokens <= half_window:
        start -= 1
    return _tail_from(exchanges, passed, start)


def _tail_from(exchanges: Sequence[Exchange], passed: Set[EntryId], start: int) -> Tail:
    head = _head(exchanges[start], passed) if start < len(exchanges) else None
    end = _end(exchanges)
    if head is None or end is None:
        return Tail(start=len(exchanges), segment=None, tokens=0)
    segment = KeptSegment(head=head, tail=end)
    return Tail(start=start, segment=segment, tokens=sum(item.tokens for item in exchanges[start:]))


def _end(exchanges: Sequence[Exchange]) -> EntryId | None:
    """The link from which the parents lead back through the tail: no note of the program, if that can be helped."""
    last = exchanges[-1] if exchanges else None
    if last is None:
        return None
    spoken = [uuid for entry in last.entries if not isinstance(entry, SystemEntry) and (uuid := uuid_of(entry))]
    return (spoken or [None, *last.ids])[-1]


def _passed(exchanges: Sequence[Exchange], parents: Mapping[EntryId, EntryId | None]) -> Set[EntryId]:
    """The links that the parents lead through from the end: what a reader of a kept segment will follow."""
    passed: set[EntryId] = set()
    at = _end(exchanges)
    while at is not None and at not in passed:
        passed.add(at)
        at = parents.get(at)
    return passed


def _head(exchange: Exchange, passed: Set[EntryId]) -> EntryId | None:
    """The link at which a tail from this exchange on begins; None where the parents do not lead to it. It is the very
    first one: a reader of the file goes back no further than the head."""
    first = exchange.ids[0] if exchange.ids else None
    return first if first in passed else None


def chunks(
    stretch: Sequence[Exchange], max_tokens: int, size: Callable[[Exchange], int] = lambda item: item.tokens
) -> tuple[tuple[Exchange, ...], ...]:
    """The stretch in runs that fit a summariser. An exchange larger than that stands alone; whoever renders it cuts
    its long texts."""
    runs: list[list[Exchange]] = []
    used = 0
    for item in stretch:
        tokens = size(item)
        if not runs or used + tokens > max_tokens:
            runs.append([])
            used = 0
        runs[-1].append(item)
        used += tokens
    return tuple(tuple(run) for run in runs)
