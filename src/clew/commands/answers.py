"""The answers to commands in words: one place for every front end that prints lines.

The receipt of a compaction in words: two lines, and all of it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from clew.commands import (
    agents,
    config,
    diff,
    doctor,
    effort,
    export,
    hooks,
    mcp,
    memory,
    model,
    permissions,
    plan,
    rewind,
    search,
    sessions,
    status,
    tasks,
    team,
    theme,
)
from clew.commands import slash_names as invoking
from clew.commands.base import SessionFacts
from clew.commands.context_view import context_lines
from clew.commands.pin import words_of
from clew.protocol.event_kinds.context import ReceiptItem
from clew.protocol.events import (
    ColdReturn,
    CompactionEnded,
    CompactionFailed,
    CompactionUndone,
    EffortChanged,
    Event,
    ItemPinned,
    ItemsRecalled,
    RangeSnipped,
    Rewound,
    ScreenChanged,
    SessionsFit,
    ThemeChanged,
    ViewTrimmed,
)
from clew.protocol.lookups.agents import AgentKindDrafted, AgentKindShown, AgentKindsListed, AgentKindWritten
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.hooks import HooksListed
from clew.protocol.lookups.mcp import McpServersListed
from clew.protocol.lookups.place import (
    ChecksShown,
    LineRemembered,
    MemoryListed,
    SessionPreviewed,
    SessionsListed,
    SessionsSearched,
)
from clew.protocol.lookups.rules_and_models import ModelsListed, RulesListed
from clew.protocol.lookups.session import (
    ContextShown,
    DiffShown,
    InvocablesListed,
    PlanOpened,
    PlanShown,
    ReceiptShown,
    RewindPreviewed,
    SessionExported,
    StatusShown,
)
from clew.protocol.lookups.tasks import TaskShown, TasksListed
from clew.protocol.lookups.teams import TeamShown
from clew.text.figures import count, duration, money

MAX_ROWS = 12
_MAX_TEXT = 100
_ID_CHARS = 8
_NOUNS = {
    "pin": ("pin", "pins"),
    "pinned file": ("pinned file", "pinned files"),
    "rule": ("rule", "rules"),
    "goal": ("goal", "goals"),
    "request": ("last request", "last requests"),
    "remark": ("remark of yours", "remarks of yours"),
    "words": ("message of yours", "messages of yours"),
    "aside": ("sentence of yours", "sentences of yours"),
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


Listing = (
    ModelsListed
    | RulesListed
    | SessionsListed
    | SessionsFit
    | RewindPreviewed
    | Rewound
    | ReceiptShown
    | InvocablesListed
)
AboutTheWindow = (
    ContextShown
    | ColdReturn
    | CompactionEnded
    | CompactionFailed
    | CompactionUndone
    | ViewTrimmed
    | RangeSnipped
    | ItemPinned
    | ItemsRecalled
)
AboutThePlace = (
    AgentKindsListed
    | AgentKindShown
    | AgentKindDrafted
    | AgentKindWritten
    | TasksListed
    | TaskShown
    | TeamShown
    | MemoryListed
    | LineRemembered
    | PlanShown
    | PlanOpened
    | DiffShown
    | SessionExported
    | SessionPreviewed
    | HooksListed
    | McpServersListed
    | StatusShown
    | ChecksShown
)
Choice = ThemeChanged | EffortChanged | ScreenChanged
ANSWERS = Listing | AboutTheWindow | AboutThePlace | Choice
WHY = {
    "idle": " after a long pause",
    "size": "",
    "asked": "",
    "overflow": " to make room",
    "media": ": the provider refused them",
    "media_limit": ": a request carries at most 50 and about 10 MB",
    "refused": ": the provider refused the request with them",
}


def answer_lines(event: Event | Answer, facts: SessionFacts, columns: int = 80) -> Iterable[str]:
    """What an answer says. Names, patches and prompts are somebody else's words: the screen makes them safe."""
    match event:
        case ModelsListed():
            return model.listing(facts.model, event.models, event.rows)
        case RulesListed():
            return permissions.listing(event.mode, event.rules)
        case SessionsSearched():
            return search.listing(event)
        case SessionsListed() | SessionsFit():
            return sessions.listing(event.sessions)
        case RewindPreviewed():
            return rewind.preview_lines(event, facts.cwd)
        case Rewound():
            return rewind.rewound_lines(event, facts.cwd)
        case ReceiptShown():
            return receipt_details(event.receipt)
        case InvocablesListed():
            return invoking.listing(event)
        case ThemeChanged():
            return (theme.changed_line(event),)
        case ScreenChanged():
            return (config.changed_line(event),)
        case EffortChanged():
            return (effort.changed_line(event),)
        case _ if isinstance(event, AboutThePlace):
            return place_lines(event, facts.cwd)
        case _:
            return window_lines(event, facts, columns)


def place_lines(event: AboutThePlace, cwd: str) -> Iterable[str]:
    """Answers about the place the session works in."""
    match event:
        case AgentKindsListed() | AgentKindShown() | AgentKindDrafted() | AgentKindWritten():
            return agents.kind_lines(event)
        case TasksListed() | TaskShown():
            return tasks.told(event)
        case TeamShown():
            return team.shown(event)
        case MemoryListed():
            return memory.listing(event, cwd)
        case LineRemembered():
            return (memory.remembered_line(event, cwd),)
        case PlanShown() | PlanOpened():
            return plan.plan_lines(event, cwd)
        case DiffShown():
            return diff.diff_lines(event, cwd)
        case SessionExported():
            return (export.exported_line(event),)
        case SessionPreviewed():
            return event.lines
        case HooksListed():
            return hooks.listing(event)
        case McpServersListed():
            return mcp.listing(event)
        case StatusShown():
            return status.status_lines(event)
        case ChecksShown():
            return doctor.check_lines(event)


def window_lines(event: Event | Answer, facts: SessionFacts, columns: int) -> Iterable[str]:
    """Answers about what the model sees."""
    match event:
        case ContextShown():
            return context_lines(event.measured, columns=columns)
        case ColdReturn():
            return (cold_return_line(event),)
        case CompactionEnded(kind="clear"):
            kept = len(facts.state.pins)
            pins = f" {count(kept, 'pin stays', 'pins stay')}." if kept else ""
            return (f"The window is empty; the log keeps everything.{pins} /compact undo brings it back.",)
        case CompactionEnded():
            return receipt_lines(event)
        case CompactionFailed():
            return (f"{'Not cleared' if event.kind == 'clear' else 'Not compacted'}. {event.reason}",)
        case CompactionUndone():
            return ("The view is again what it was before; what was said since stays.",)
        case ViewTrimmed():
            return (trimmed_line(event),)
        case RangeSnipped():
            size = f", about {event.tokens_freed:,} tokens" if event.tokens_freed else ""
            return (
                f"{count(len(event.removed), 'entry', 'entries')} left the view{size}. /compact undo brings them back.",
            )
        case ItemPinned():
            return (f"{'Pinned' if event.pinned else 'No longer pinned'}: {words_of(event)}",)
        case ItemsRecalled():
            return (f"{count(len(event.entry_ids), 'item')} joined the conversation again, word for word.",)
        case _:
            return ()


def trimmed_line(event: ViewTrimmed) -> str:
    """What was cleared, and the way back."""
    outputs = count(len(event.results), "output" if event.why == "refused" else "old output") if event.results else ""
    media = count(len(event.media), "picture or document", "pictures and documents") if event.media else ""
    what = " and ".join(part for part in (outputs, media) if part)
    freed = f", about {event.tokens_freed:,} tokens" if event.tokens_freed else ""
    return f"Cleared {what} from the view{WHY[event.why]}{freed}. /compact undo brings them back."


def cold_return_line(event: ColdReturn) -> str:
    """What going on costs, and what would cost less."""
    price = f", about {money(event.cost_usd)}" if event.cost_usd is not None else ""
    pause = duration(round(event.idle_s * 1000))
    return (
        f"After {pause} the provider's cache is likely cold: the next request reads {event.tokens:,} tokens "
        f"anew{price}. /compact first makes it smaller."
    )
