"""What crosses a compaction by code, word for word: from the last receipt, from the entries since, from what runs."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from msgspec import Struct

from clew.engine.compaction.budgets import Budgets
from clew.engine.compaction.framing import clipped, one_line
from clew.engine.compaction.live_state import LiveState
from clew.engine.compaction.own_words import CHARS_PER_TOKEN, fitting_words, own_words
from clew.engine.compaction.receipt import Carried, carried, last_receipt, measured, pins, since
from clew.ledger.calls import tool_name
from clew.ledger.facts import Ledger
from clew.ledger.fold import fold
from clew.ledger.todos import items_of
from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, EventEntry
from clew.protocol.event_kinds.context import CompactionEnded, ReceiptItem
from clew.protocol.events import PlanAnswered, QuestionAnswered, QuestionAsked, WorkChanged
from clew.protocol.ids import CallId, EntryId
from clew.protocol.meant_calls import meant_calls
from clew.protocol.messages import tool_calls
from clew.protocol.standing import Standing
from clew.transcript.chain.links import uuid_of

MAX_AGENTS = 30
MAX_DECISIONS = 40
MAX_FILE_NAMES = 30


class Crossing(Struct, frozen=True, kw_only=True):
    """All that crosses, in the order in which it is told, and what found no room."""

    items: tuple[Carried, ...]
    left: tuple[Carried, ...] = ()
    is_answered: bool = False
    """The last request has its answer: going on does not mean doing it again."""
    is_child: bool = False
    """An agent asked for the work, not the user."""

    def of(self, *kinds: str) -> tuple[Carried, ...]:
        """The items of some kinds."""
        return tuple(item for item in self.items if item.kind in kinds)


def carry(
    entries: Sequence[Entry],
    chain: Sequence[Entry],
    live: LiveState,
    budgets: Budgets,
    *,
    kept: Iterable[EntryId] = (),
) -> Crossing:
    """Gather what crosses. `kept`: the entries of the tail."""
    receipt = last_receipt(entries, chain)
    tail = frozenset(kept)
    standing = {uuid_of(entry) for entry in chain}
    new = [entry for entry in since(entries, receipt) if not isinstance(entry, ChainEntry) or entry.uuid in standing]
    ledger = fold(new, held=True)
    gathered: list[Carried] = []
    left: list[Carried] = []
    families = (
        (_pins(entries, chain), budgets.pins, _fitting),
        (own_words(receipt, new, budgets), budgets.words, fitting_words),
        (_todos(receipt, new), max(budgets.state, budgets.window // 10), _fitting),
        (_running(live), max(budgets.state, budgets.window // 10), _fitting),
        (_state(receipt, new, ledger, live, budgets), budgets.state, _fitting),
        (_files(receipt, new, ledger), budgets.state // 2, _fitting),
    )
    for found, budget, choose in families:
        fitting, rest = choose([measured(item, tail) for item in found], budget)
        gathered += fitting
        left += rest
    child = bool(chain) and isinstance(chain[-1], ChainEntry) and chain[-1].is_sidechain
    answered = ledger.state in (Standing.IDLE, Standing.ASKING)
    return Crossing(items=tuple(gathered), left=tuple(left), is_answered=answered, is_child=child)


_RANK = {"current todo": 5, "shell": 5, "mode": 6, "agent": 4, "plan": 3}


def _rank(item: Carried) -> int:
    """Which of a family comes first when not all fit. Within a rank the newest do."""
    return _RANK.get(item.kind, 2)


def _fitting(items: Sequence[Carried], budget: int) -> tuple[list[Carried], list[Carried]]:
    """The items that fit, in their own order: the highest rank first, then the newest. What the tail shows is free."""
    order = sorted(range(len(items)), key=lambda at: (_rank(items[at]), at), reverse=True)
    chosen: set[int] = set()
    spent = 0
    for at in order:
        cost = 0 if items[at].is_kept else items[at].tokens
        if spent + cost <= budget:
            spent += cost
            chosen.add(at)
    return (
        [item for at, item in enumerate(items) if at in chosen],
        [item for at, item in enumerate(items) if at not in chosen],
    )


def _again(items: Iterable[ReceiptItem]) -> list[Carried]:
    return [Carried(kind=item.kind, text=item.text, source=item.source) for item in items]


def _once(items: Iterable[Carried], key: Callable[[Carried], str]) -> list[Carried]:
    """Each once, in its last place."""
    found: dict[str, Carried] = {}
    for item in items:
        name = key(item)
        found.pop(name, None)
        found[name] = item
    return list(found.values())


def _pins(entries: Sequence[Entry], chain: Sequence[Entry]) -> list[Carried]:
    return [
        Carried(kind="pinned file", text=pin.target)
        if pin.path
        else Carried(kind="pin", text=pin.text or pin.target, source=pin.source)
        for pin in pins(entries, chain)
    ]


def _todos(receipt: CompactionEnded | None, new: Sequence[Entry]) -> list[Carried]:
    """The open items of the list as it was last written; an empty list ends it."""
    found = _again(carried(receipt, "todo", "current todo"))
    source = EntryId("")
    for entry in new:
        if isinstance(entry, AssistantEntry):
            for call in meant_calls(entry.message.content):
                if tool_name(call.name) == "TodoWrite" and isinstance(call.arguments.get("todos"), list):
                    found = _open_items(cast("list[Any]", call.arguments["todos"]), entry.uuid)
        elif isinstance(entry, EventEntry) and isinstance(entry.event, WorkChanged):
            found = [
                Carried(
                    kind="current todo" if item.status == "in_progress" else "todo",
                    text=f"{item.content} ({item.owner})" if item.owner else item.content,
                    source=source,
                )
                for item in entry.event.items
                if item.status != "completed"
            ]
        source = entry.uuid if isinstance(entry, ChainEntry) else source
    return found


def _open_items(raw: list[Any], source: EntryId) -> list[Carried]:
    found: list[Carried] = []
    for value in raw:
        for item in items_of({"todos": [value]}):
            if item.status in ("completed", "cancelled"):
                continue
            words = [text for text in cast("dict[str, Any]", value).values() if isinstance(text, str)]
            whole = next((text for text in words if text.startswith(item.content)), item.content)
            kind = "current todo" if item.status == "in_progress" else "todo"
            found.append(Carried(kind=kind, text=whole, source=source))
    return found


def _running(live: LiveState) -> list[Carried]:
    """What runs now. It is asked anew each time: what ended meanwhile does not cross."""
    found = [Carried(kind="shell", text=f"{shell.id}: {shell.command}") for shell in live.running_shells()]
    agents = list(live.running_agents())
    if len(agents) > MAX_AGENTS:
        older = len(agents) - MAX_AGENTS
        found.append(Carried(kind="agent", text=f"and {older} older {'agent' if older == 1 else 'agents'}"))
    found += [
        Carried(kind="agent", text=f"{one_line(agent.id, 80)}: {one_line(agent.task, 200)}")
        for agent in agents[-MAX_AGENTS:]
    ]
    return found


def _state(
    receipt: CompactionEnded | None, new: Sequence[Entry], ledger: Ledger, live: LiveState, budgets: Budgets
) -> list[Carried]:
    found = _once([*_again(carried(receipt, "decision")), *_decisions(new, ledger)], lambda item: item.text)
    found = found[-MAX_DECISIONS:]
    most = budgets.state // 2 * CHARS_PER_TOKEN
    plan = ledger.plan
    if live.plan:
        found.append(Carried(kind="plan", text=clipped(live.plan, most)))
    elif plan is not None and plan.approved is not False:
        found.append(Carried(kind="plan", text=clipped(plan.text, most), source=next(iter(plan.source), None)))
    elif plan is None:
        found += _again(carried(receipt, "plan"))
    if live.permission_mode:
        found.append(Carried(kind="mode", text=live.permission_mode))
    tools = _once(
        [*_again(carried(receipt, "tool")), *(Carried(kind="tool", text=name) for name in live.discovered_tools())],
        lambda item: item.text,
    )
    return found + tools


_VERDICTS = {"allow": "allowed", "allow_always": "allowed from now on", "deny": "refused"}


def _decisions(new: Sequence[Entry], ledger: Ledger) -> list[Carried]:
    """Verdicts and answers. Refusals bind longest, so single permissions, which are used up, stand before them."""
    verdicts = [
        Carried(
            kind="decision",
            text=f"{_VERDICTS[fact.decision]}: {fact.tool} {one_line(fact.subject, 400)}"
            + (f" ({one_line(fact.reason, 300)})" if fact.reason else ""),
            source=next(iter(fact.source), None),
        )
        for fact in sorted(ledger.approvals, key=lambda fact: fact.decision != "allow")
        if fact.decision in _VERDICTS
    ]
    calls = {
        call.id: entry.uuid
        for entry in new
        if isinstance(entry, AssistantEntry)
        for call in tool_calls(entry.message.content)
    }
    return verdicts + _answers(new, calls)


def _answers(new: Sequence[Entry], calls: dict[CallId, EntryId]) -> list[Carried]:
    asked: dict[str, QuestionAsked] = {}
    found: list[Carried] = []
    for entry in new:
        event = entry.event if isinstance(entry, EventEntry) else None
        if isinstance(event, QuestionAsked):
            asked[event.request_id] = event
        elif isinstance(event, QuestionAnswered) and event.by == "user" and not event.declined:
            questions = asked[event.request_id].questions if event.request_id in asked else ()
            for question, answer in zip(questions, event.answers, strict=False):
                text = f"asked “{one_line(question.question, 300)}”, the user answered: {', '.join(answer)}"
                found.append(Carried(kind="decision", text=text, source=calls.get(event.call_id)))
        elif isinstance(event, PlanAnswered):
            words = "accepted the plan" if event.decision != "keep_planning" else "sent the plan back"
            comment = f": {event.comment}" if event.comment else ""
            found.append(Carried(kind="decision", text=f"the user {words}{comment}", source=calls.get(event.call_id)))
    return found


def _files(receipt: CompactionEnded | None, new: Sequence[Entry], ledger: Ledger) -> list[Carried]:
    """Files that were read or changed, the one touched last at the end. Failed, refused and deleted ones are none."""
    places = {uuid: at for at, entry in enumerate(new) if (uuid := uuid_of(entry)) is not None}
    touched = [file for file in ledger.files if file.edits or file.reads or file.created]
    touched.sort(key=lambda file: max((places.get(source, 0) for source in file.source), default=0))
    gone = {file.path for file in ledger.files if file.deleted}
    earlier = _again(carried(receipt, "file changed", "file read"))
    changed = {item.text for item in earlier if item.kind == "file changed"}
    changed |= {file.path for file in touched if file.edits or file.created}
    found = [*(item.text for item in earlier), *(file.path for file in touched)]
    sources = {item.text: item.source for item in earlier} | {
        file.path: file.source[-1] for file in touched if file.source
    }
    newest = [path for path in dict.fromkeys(reversed(found)) if path not in gone][:MAX_FILE_NAMES]
    return [
        Carried(kind="file changed" if path in changed else "file read", text=path, source=sources.get(path))
        for path in reversed(newest)
    ]
