"""What clew itself says between turns: notes, answers to commands, recaps, shells of the person."""

from collections.abc import Iterator

from msgspec.structs import replace

from clew.commands.hooks import hook_line, offered_line
from clew.commands.mcp import offered_line as servers_line
from clew.presentation.story.passages import (
    AnswerPassage,
    DiffPassage,
    Level,
    LinesPassage,
    NotePassage,
    Passage,
    RecapPassage,
    ShellPassage,
    TurnPassage,
)
from clew.presentation.story.story import Story, added, fold, known, put
from clew.protocol.event_kinds.programs import McpServerRow
from clew.protocol.events import (
    ColdReturn,
    CompactionEnded,
    CompactionFailed,
    CompactionUndone,
    CostThresholdReached,
    EffortChanged,
    ElicitationAnswered,
    Event,
    HookRan,
    HookRow,
    HooksChanged,
    HooksOffered,
    ItemPinned,
    ItemsRecalled,
    McpServersChanged,
    McpServersOffered,
    ModelChanged,
    Notice,
    OpRejected,
    PermissionModeChanged,
    PromptWithdrawn,
    RangeSnipped,
    RecapReady,
    Rewound,
    ScreenChanged,
    SessionsFit,
    ShellEnded,
    ShellProgress,
    ShellStarted,
    ThemeChanged,
    TitleChanged,
    ViewTrimmed,
)
from clew.protocol.lookups.agents import AgentKindDrafted, AgentKindShown, AgentKindsListed, AgentKindWritten
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.hooks import HooksListed
from clew.protocol.lookups.mcp import McpServersListed
from clew.protocol.lookups.place import ChecksShown, LineRemembered, MemoryListed, SessionsListed, SessionsSearched
from clew.protocol.lookups.rules_and_models import ModelsListed, RulesListed
from clew.protocol.lookups.session import (
    ContextShown,
    DiffShown,
    InvocablesListed,
    PlanShown,
    ReceiptShown,
    RewindPreviewed,
    SessionExported,
    StatusShown,
)
from clew.protocol.lookups.tasks import TaskShown, TasksListed
from clew.protocol.lookups.teams import TeamShown
from clew.text.figures import money

MAX_OUTPUT_CHARS = 8_000
"""Of a command that still runs."""


@fold.register
def _(event: ShellStarted, story: Story, at: str) -> Story:
    key = f"shell:{event.request_id}"
    return put(story, ShellPassage(key=key, at=at, command=event.command, output="", running=True))


@fold.register
def _(event: ShellProgress, story: Story, at: str) -> Story:
    running = known(story, f"shell:{event.request_id}")
    if not isinstance(running, ShellPassage):
        return story
    return put(story, replace(running, output=(running.output + event.text)[-MAX_OUTPUT_CHARS:]))


@fold.register
def _(event: ShellEnded, story: Story, at: str) -> Story:
    return put(
        story,
        ShellPassage(
            key=f"shell:{event.request_id}",
            entry_id=event.entry_id,
            at=at,
            command=event.command,
            output=event.output,
            exit_code=event.exit_code,
            made=(*event.diffs, event.changes) if event.changes is not None else event.diffs,
            cwd=story.facts.cwd,
        ),
    )


@fold.register
def _(event: RecapReady, story: Story, at: str) -> Story:
    def made(key: str) -> RecapPassage:
        return RecapPassage(key=key, at=at, text=event.text, away=event.away, by_model=event.source == "model")

    told = added(story, made)
    return told if story.now else replace(told, past=before_recap(story.past, told.now))


def before_recap(past: tuple[Passage, ...], now: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """The past without the recaps it ends with, when who comes back is told the same now."""
    end = len(past)
    while end and isinstance(past[end - 1], RecapPassage):
        end -= 1
    told = {passage.text for passage in now if isinstance(passage, RecapPassage)}
    again = any(isinstance(passage, RecapPassage) and passage.text in told for passage in past[end:])
    return past[:end] if again else past


def _noted(story: Story, text: str, at: str, level: Level = "info", *, minor: bool = False) -> Story:
    return added(story, lambda key: NotePassage(key=key, at=at, text=text, level=level, minor=minor))


def _commanded(story: Story) -> bool:
    """Whether a slash command stands right above: what it changed is told there, not only in header and footer."""
    return bool(story.now) and isinstance(last := story.now[-1], LinesPassage) and bool(last.command)


@fold.register
def _(event: ElicitationAnswered, story: Story, at: str) -> Story:
    words = {"accept": "has your answer", "decline": "was told no", "cancel": "got no answer"}[event.action]
    why = " (nobody could be asked)" if event.by == "nobody" else " (stopped)" if event.by == "interrupt" else ""
    return _noted(story, f"MCP server {event.server} asked and {words}{why}.", at)


@fold.register
def _(event: Notice, story: Story, at: str) -> Story:
    # What a model said and nothing bears out is told by /recap why, to who asks.
    return story if event.code == "recap-why" else _noted(story, event.text, at, event.level)


@fold.register
def _(event: ModelChanged, story: Story, at: str) -> Story:
    why = f" ({event.reason})" if event.reason and event.reason != "user" else ""
    return _noted(story, f"Model: {event.model}{why}", at, minor=not why and not _commanded(story))


@fold.register
def _(event: PermissionModeChanged, story: Story, at: str) -> Story:
    return _noted(story, f"Permission mode: {event.mode}", at, minor=not _commanded(story))


@fold.register
def _(event: TitleChanged, story: Story, at: str) -> Story:
    if event.source != "user":
        return story
    return _noted(story, f"Title: {event.title}", at, minor=not _commanded(story))


@fold.register
def _(event: HookRan, story: Story, at: str) -> Story:
    if event.outcome == "ok":
        return story
    return _noted(story, hook_line(event), at, "warning")


@fold.register
def _(event: HooksOffered, story: Story, at: str) -> Story:
    return _noted(replace(story, offered=(*story.offered, *event.hooks)), offered_line(event.hooks), at, "warning")


@fold.register
def _(event: HooksListed, story: Story, at: str) -> Story:
    return _answered(event, _still_offered(story, event.hooks), at)


@fold.register
def _(event: HooksChanged, story: Story, at: str) -> Story:
    return _still_offered(story, event.hooks)


def _still_offered(story: Story, hooks: tuple[HookRow, ...]) -> Story:
    waiting = {row.digest for row in hooks if row.state == "unapproved"}
    return replace(story, offered=tuple(row for row in story.offered if row.digest in waiting))


@fold.register
def _(event: McpServersOffered, story: Story, at: str) -> Story:
    offered = (*story.offered_servers, *event.servers)
    return _noted(replace(story, offered_servers=offered), servers_line(event.servers), at, "warning")


@fold.register
def _(event: McpServersListed, story: Story, at: str) -> Story:
    return _answered(event, _servers_still_offered(story, event.servers), at)


@fold.register
def _(event: McpServersChanged, story: Story, at: str) -> Story:
    return _servers_still_offered(story, event.servers)


def _servers_still_offered(story: Story, servers: tuple[McpServerRow, ...]) -> Story:
    waiting = {row.digest for row in servers if row.state == "unapproved"}
    return replace(story, offered_servers=tuple(row for row in story.offered_servers if row.digest in waiting))


@fold.register
def _(event: OpRejected, story: Story, at: str) -> Story:
    return _noted(story, event.reason, at, "error")


@fold.register
def _(event: CostThresholdReached, story: Story, at: str) -> Story:
    return _noted(story, f"{money(event.spent_usd)} of the budget of {money(event.budget_usd)} is spent", at, "warning")


@fold.register
def _(event: PromptWithdrawn, story: Story, at: str) -> Story:
    return story


@fold.register(ModelsListed)
@fold.register(RulesListed)
@fold.register(SessionsListed)
@fold.register(SessionsSearched)
@fold.register(SessionsFit)
@fold.register(ContextShown)
@fold.register(MemoryListed)
@fold.register(LineRemembered)
@fold.register(PlanShown)
@fold.register(SessionExported)
@fold.register(StatusShown)
@fold.register(EffortChanged)
@fold.register(ThemeChanged)
@fold.register(ScreenChanged)
@fold.register(ChecksShown)
@fold.register(AgentKindsListed)
@fold.register(AgentKindShown)
@fold.register(AgentKindDrafted)
@fold.register(AgentKindWritten)
@fold.register(TasksListed)
@fold.register(TaskShown)
@fold.register(TeamShown)
@fold.register(RewindPreviewed)
@fold.register(CompactionEnded)
@fold.register(CompactionUndone)
@fold.register(ItemPinned)
@fold.register(ItemsRecalled)
@fold.register(RangeSnipped)
@fold.register(InvocablesListed)
@fold.register(ReceiptShown)
@fold.register(ViewTrimmed)
def _(event: Event | Answer, story: Story, at: str) -> Story:
    return _answered(event, story, at)


@fold.register
def _(event: DiffShown, story: Story, at: str) -> Story:
    return added(
        story,
        lambda key: DiffPassage(
            key=key,
            at=at,
            files=event.files,
            left_out=event.left_out,
            ignored=event.ignored,
            warnings=event.warnings,
            cwd=story.facts.cwd,
        ),
    )


@fold.register(CompactionFailed)
@fold.register(ColdReturn)
def _(event: CompactionFailed | ColdReturn, story: Story, at: str) -> Story:
    return _answered(event, story, at, "warning")


def _answered(event: Event | Answer, story: Story, at: str, level: Level = "info") -> Story:
    return added(story, lambda key: AnswerPassage(key=key, at=at, event=event, facts=story.facts, level=level))


@fold.register
def _(event: Rewound, story: Story, at: str) -> Story:
    """The log no longer tells what was taken back, but for the lines of its turns: they go here."""
    if event.scope != "files":
        story = replace(story, past=tuple(_without_void_turns(story.past)))
    return _answered(event, story, at)


def _without_void_turns(passages: tuple[Passage, ...]) -> Iterator[Passage]:
    said = True
    """Something of a conversation stands since the last line of a turn."""
    for passage in passages:
        if not isinstance(passage, TurnPassage):
            said = said or bool(passage.entry_id)
            yield passage
        elif said:
            said = False
            yield passage
