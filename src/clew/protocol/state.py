"""What is known of a session from its events: one pure fold, for the host's snapshot and for every front end."""

from functools import singledispatch

from msgspec import Struct
from msgspec.structs import replace

from clew.protocol.asking import (
    ApprovalRequested,
    ApprovalResolved,
    ElicitationAnswered,
    ElicitationRequested,
    PlanAnswered,
    PlanProposed,
    QuestionAnswered,
    QuestionAsked,
)
from clew.protocol.context_events import (
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    ContextMeasured,
    ItemPinned,
)
from clew.protocol.display import DiffBlock, TerminalBlock, TodoBlock, TodoItem
from clew.protocol.event_base import EventBase
from clew.protocol.lookup_events import PlanStanding
from clew.protocol.messages import text_of
from clew.protocol.session_words import PermissionModeChanged, RecapReady, TitleChanged
from clew.protocol.shell_events import ShellEnded, ShellRow, ShellsChanged, ShellStarted
from clew.protocol.tally import Tally
from clew.protocol.turn_events import (
    PromptAccepted,
    PromptQueued,
    PromptWithdrawn,
    StepStarted,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)

Waiting = ApprovalRequested | QuestionAsked | PlanProposed | ElicitationRequested
MAX_FILES = 500
MAX_DENIALS = 100
MAX_PROMPT_CHARS = 500


class FileChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines added to and removed from one file, over all its edits."""

    path: str
    added: int = 0
    removed: int = 0
    created: bool = False


class SessionState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fold. What a front end that joins late must know; figures cover the whole session, resumes included."""

    title: str = ""
    title_by_user: bool = False
    turns: int = 0
    steps: int = 0
    calls: int = 0
    failed_calls: int = 0
    refused_calls: int = 0
    commands: int = 0
    tally: Tally = Tally()
    files: tuple[FileChange, ...] = ()
    denials: tuple[str, ...] = ()
    """Tool and subject of each denied approval, newest last."""
    saved_rules: tuple[str, ...] = ()
    """Rules saved with "always" in this session."""
    todos: tuple[TodoItem, ...] = ()
    recap: str = ""
    pins: tuple[ItemPinned, ...] = ()
    """What crosses every compaction, oldest first."""
    permission_mode: str = ""
    """The one that was chosen last; empty: none was, since the session began."""
    plan: PlanStanding = ""
    """What became of the last plan."""
    last_prompt: str = ""
    """What the user said last, clipped."""
    last_reason: str = ""
    """How the last turn ended."""
    working: bool = False
    compacting: bool = False
    """The view is being made smaller, between turns or within one."""
    waiting: tuple[Waiting, ...] = ()
    """What a person must answer, oldest first."""
    queued: tuple[PromptQueued, ...] = ()
    """Input that has not joined yet."""
    typed: tuple[ShellStarted, ...] = ()
    """Commands the user typed that still run."""
    shells: tuple[ShellRow, ...] = ()
    """Commands in the background that still run."""
    meter: ContextMeasured | None = None
    """How full the window was when it was last measured."""

    def figures(self) -> "SessionState":
        """Without what holds only while a process runs: this part is kept in the log."""
        return replace(self, working=False, compacting=False, waiting=(), queued=(), typed=(), shells=(), meter=None)


def after(event: EventBase, state: SessionState) -> SessionState:
    """The state after this event of the main agent. Events that change nothing return an equal state."""
    return _fold(event, replace(state, tally=state.tally.after(event)))


@singledispatch
def _fold(event: EventBase, state: SessionState) -> SessionState:
    return state


@_fold.register
def _(event: TurnStarted, state: SessionState) -> SessionState:
    return replace(state, working=True)


@_fold.register
def _(event: StepStarted, state: SessionState) -> SessionState:
    return replace(state, steps=state.steps + 1)


@_fold.register
def _(event: PromptQueued, state: SessionState) -> SessionState:
    return replace(state, queued=(*state.queued, event))


@_fold.register
def _(event: PromptWithdrawn, state: SessionState) -> SessionState:
    return replace(state, queued=tuple(item for item in state.queued if item.prompt_id != event.prompt_id))


@_fold.register
def _(event: PromptAccepted, state: SessionState) -> SessionState:
    queued = tuple(item for item in state.queued if item.prompt_id != event.prompt_id)
    last = state.last_prompt if event.hidden else text_of(event.content)[:MAX_PROMPT_CHARS]
    return replace(state, queued=queued, last_prompt=last)


@_fold.register
def _(event: ToolEnded, state: SessionState) -> SessionState:
    files, todos, ran = state.files, state.todos, 0
    for block in event.display:
        if isinstance(block, DiffBlock) and not event.result.is_error:
            files = with_change(files, block)
        elif isinstance(block, TerminalBlock):
            ran += 1
        elif isinstance(block, TodoBlock):
            todos = block.items
    return replace(
        state,
        files=files,
        todos=todos,
        calls=state.calls + 1,
        refused_calls=state.refused_calls + event.refused,
        failed_calls=state.failed_calls + (event.result.is_error and not event.refused),
        commands=state.commands + ran,
    )


def with_change(files: tuple[FileChange, ...], block: DiffBlock) -> tuple[FileChange, ...]:
    """The list with this change added to its file's row; order of first change, bounded."""
    for index, known in enumerate(files):
        if known.path == block.path:
            summed = replace(known, added=known.added + block.added, removed=known.removed + block.removed)
            return (*files[:index], summed, *files[index + 1 :])
    fresh = FileChange(path=block.path, added=block.added, removed=block.removed, created=block.created)
    return (*files, fresh)[-MAX_FILES:]


@_fold.register
def _(event: TurnEnded, state: SessionState) -> SessionState:
    return replace(state, working=False, compacting=False, turns=state.turns + 1, waiting=(), last_reason=event.reason)


@_fold.register(ApprovalRequested)
@_fold.register(QuestionAsked)
@_fold.register(PlanProposed)
@_fold.register(ElicitationRequested)
def _(event: Waiting, state: SessionState) -> SessionState:
    if any(known.request_id == event.request_id for known in state.waiting):
        return state
    if isinstance(event, PlanProposed):
        state = replace(state, plan="proposed")
    return replace(state, waiting=(*state.waiting, event))


@_fold.register(QuestionAnswered)
@_fold.register(ElicitationAnswered)
def _(event: QuestionAnswered | ElicitationAnswered, state: SessionState) -> SessionState:
    return _without(state, event.request_id)


@_fold.register
def _(event: PlanAnswered, state: SessionState) -> SessionState:
    sent_back: PlanStanding = "sent_back" if event.by == "user" else "proposed"
    standing = sent_back if event.decision == "keep_planning" else "accepted"
    return _without(replace(state, plan=standing), event.request_id)


@_fold.register
def _(event: PermissionModeChanged, state: SessionState) -> SessionState:
    return replace(state, permission_mode=event.mode)


@_fold.register
def _(event: ApprovalResolved, state: SessionState) -> SessionState:
    state = _without(state, event.request_id)
    if event.decision == "deny":
        return replace(state, denials=(*state.denials, f"{event.tool}: {event.subject}")[-MAX_DENIALS:])
    if event.decision == "allow_always" and event.rule:
        return replace(state, saved_rules=(*state.saved_rules, event.rule))
    return state


def _without(state: SessionState, request_id: str) -> SessionState:
    return replace(state, waiting=tuple(item for item in state.waiting if item.request_id != request_id))


@_fold.register
def _(event: TitleChanged, state: SessionState) -> SessionState:
    if state.title_by_user and event.source != "user":
        return state
    return replace(state, title=event.title, title_by_user=event.source == "user")


@_fold.register
def _(event: RecapReady, state: SessionState) -> SessionState:
    return replace(state, recap=event.text)


@_fold.register
def _(event: ContextMeasured, state: SessionState) -> SessionState:
    return replace(state, meter=replace(event, shares=(), largest=()))


@_fold.register
def _(event: CompactionStarted, state: SessionState) -> SessionState:
    return replace(state, compacting=True)


@_fold.register(CompactionEnded)
@_fold.register(CompactionFailed)
def _(event: CompactionEnded | CompactionFailed, state: SessionState) -> SessionState:
    return replace(state, compacting=False)


@_fold.register
def _(event: ItemPinned, state: SessionState) -> SessionState:
    others = tuple(pin for pin in state.pins if pin.target != event.target)
    return replace(state, pins=(*others, event) if event.pinned else others)


@_fold.register
def _(event: ShellStarted, state: SessionState) -> SessionState:
    return replace(state, typed=(*state.typed, event))


@_fold.register
def _(event: ShellEnded, state: SessionState) -> SessionState:
    others = tuple(item for item in state.typed if item.request_id != event.request_id)
    return replace(state, typed=others, commands=state.commands + 1)


@_fold.register
def _(event: ShellsChanged, state: SessionState) -> SessionState:
    return replace(state, shells=event.running)
