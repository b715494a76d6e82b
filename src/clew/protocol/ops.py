"""Ops: what a front end asks of the engine. Imperative, plain data."""

from typing import TYPE_CHECKING, ClassVar

from clew.protocol.base import EventBase, OpBase, Rights, union_of
from clew.protocol.event_kinds.context import (
    CompactionEnded,
    CompactionFailed,
    CompactionUndone,
    ItemPinned,
    ItemsRecalled,
    RangeSnipped,
    RewindScope,
    Rewound,
    ViewTrimmed,
)
from clew.protocol.event_kinds.session import EffortChanged, ModelChanged, ScreenChanged, ThemeChanged
from clew.protocol.event_kinds.turns import PromptOrigin
from clew.protocol.event_kinds.words import Notice, PermissionModeChanged, RecapReady, TitleChanged
from clew.protocol.ids import EntryId, PromptId
from clew.protocol.messages import Part
from clew.protocol.op_kinds.answers import (
    AnswerApproval,
    AnswerElicitation,
    Answerer,
    AnswerOp,
    AnswerPlan,
    AnswerQuestion,
    declined,
    kind_of,
    to_agent,
)
from clew.protocol.op_kinds.programs import (
    AddMcpServers,
    AnswerHookCall,
    AnswerMcpMessage,
    CallbackHook,
    DeliverMcpMessage,
    LogInMcp,
    LogOutMcp,
    RegisterHooks,
)
from clew.protocol.op_kinds.slash_names import ChooseSkills, InvocableOp, UseInvocable


class SubmitPrompt(OpBase, frozen=True, kw_only=True, tag="prompt.submit"):
    """Say something. When idle it starts a turn; while working it joins at the next step boundary."""

    content: str | tuple[Part, ...]
    origin: PromptOrigin = "user"
    prompt_id: PromptId = PromptId("")
    """To withdraw it by; given by the host when empty."""


class WithdrawPrompt(OpBase, frozen=True, kw_only=True, tag="prompt.withdraw"):
    """Take back input that has not joined yet."""

    prompt_id: PromptId


class SendToBackground(OpBase, frozen=True, kw_only=True, tag="shell.to_background"):
    """Commands and agents that calls wait for go on in the background; each call ends with the id of its task. Rejected
    when none runs."""

    task_id: str = ""
    """One agent; empty: all that the main agent waits for."""


class SetCoordinator(OpBase, frozen=True, kw_only=True, tag="coordinator.set"):
    """Let the main agent give all work to workers, or do it itself again. None: the other one. Rejected while a turn
    runs."""

    on: bool | None = None


class EnterWorktree(OpBase, frozen=True, kw_only=True, tag="worktree.enter"):
    """Let the conversation work in a git checkout of its own. Rejected while a turn, an agent or a command runs, and in
    one already."""

    name: str = ""
    """Of the checkout: one that was kept is opened again; empty: a new one."""
    changes: bool = False
    """A new one begins with what is uncommitted in the project's checkout."""


class LeaveWorktree(OpBase, frozen=True, kw_only=True, tag="worktree.leave"):
    """Let the conversation work in the project's checkout again. What the other one holds is saved first. Rejected like
    EnterWorktree, and where it is in none."""

    remove: bool = False
    """The checkout is removed once all that it holds is saved in the project's repository."""


class ForkAgent(OpBase, frozen=True, kw_only=True, tag="agent.fork"):
    """Let an agent that begins with all of this conversation carry out a directive in the background."""

    directive: str


class MessageAgent(OpBase, frozen=True, kw_only=True, tag="agent.message"):
    """Words of a person to a child agent: one at work reads them before its next step, one that has ended goes on from
    its log. Rejected where there is none of this id or name."""

    to: str
    text: str


class StopMember(OpBase, frozen=True, kw_only=True, tag="team.stop"):
    """Stop a member of the team: at once, or by a request that it may refuse with a reason (`ask`)."""

    name: str
    ask: bool = False


class StartMember(OpBase, frozen=True, kw_only=True, tag="team.start"):
    """Let a member whose process died, or that was stopped, go on from its log."""

    name: str


class SetMemberMode(OpBase, frozen=True, kw_only=True, tag="team.mode"):
    """Give a member another permission mode; it never makes its rights wider than the session's."""

    name: str
    mode: str


class SendQueued(OpBase, frozen=True, kw_only=True, tag="prompt.send_queued"):
    """Send prompts that an earlier process left in the queue: a person saw them and pressed a key. Rejected when
    nothing is held."""

    prompt_id: PromptId = PromptId("")
    """This one; empty: all, in their order."""


class ContinueTurn(OpBase, frozen=True, kw_only=True, tag="turn.continue"):
    """Go on with a turn that was cut off before this process began; rejected when the session ended in order."""


class Interrupt(OpBase, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn, also one that was only just asked for: calls settle, TurnEnded follows with reason
    `interrupted`. When idle, nothing."""


class CheckPlan(OpBase, frozen=True, kw_only=True, tag="plan.check"):
    """Have the work so far held against the plan: a prompt that goes through it item by item."""


class SetModel(OpBase, frozen=True, kw_only=True, tag="model.set"):
    """Use another model from the next request on."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ModelChanged,)

    model: str


class SetEffort(OpBase, frozen=True, kw_only=True, tag="effort.set"):
    """Ask for this much thinking from now on; empty: the model's own default. `keep` writes it to the settings."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (EffortChanged,)

    effort: str
    keep: bool = False


class SetTheme(OpBase, frozen=True, kw_only=True, tag="theme.set"):
    """Use other colours from now on, here and in later sessions."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ThemeChanged,)

    theme: str


class SetScreen(OpBase, frozen=True, kw_only=True, tag="screen.set"):
    """Give a setting of the screen another value, here and in later sessions."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ScreenChanged,)

    name: str
    value: str


class SetPermissionMode(OpBase, frozen=True, kw_only=True, tag="permission_mode.set"):
    """Change the permission mode; only ever sent by a person's front end."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (PermissionModeChanged,)

    mode: str


class ReportFocus(OpBase, frozen=True, kw_only=True, tag="focus.report"):
    """The person looks at this front end, or looks away; who never says so is taken to look."""

    needs: ClassVar[Rights] = Rights.WATCH

    focused: bool


class ReportTyping(OpBase, frozen=True, kw_only=True, tag="typing.report"):
    """Keys were pressed at a front end whose terminal never reports the focus: somebody looks. Sent now and then, not
    with every key."""

    needs: ClassVar[Rights] = Rights.WATCH


class SetTitle(OpBase, frozen=True, kw_only=True, tag="title.set"):
    """Name the session; a user's title always wins."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (TitleChanged,)

    title: str


class RequestRecap(OpBase, frozen=True, kw_only=True, tag="recap.request"):
    """Ask for a recap now; answered by RecapReady or a Notice."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (RecapReady, Notice)

    model: bool = False
    """Let a model write it, if one is connected."""
    returned: bool = False
    """A person came back after a while and asked for nothing."""


class RunShell(OpBase, frozen=True, kw_only=True, tag="shell.run"):
    """Run a command the user typed, as in their own shell: not judged, not held by the sandbox. Between turns input
    waits for it; beside a turn its output joins at the next step boundary. ShellStarted, ShellProgress and ShellEnded
    follow; Interrupt stops it. `cd` in it does not move the session."""

    command: str


class Compact(OpBase, frozen=True, kw_only=True, tag="context.compact"):
    """Make the view smaller now. Answered by CompactionEnded, ViewTrimmed or CompactionFailed."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (CompactionEnded, CompactionFailed, ViewTrimmed)

    focus: str = ""
    """What the summary should dwell on."""
    fast: bool = False
    """Only clear old tool outputs and media; no model is asked."""


class ClearContext(OpBase, frozen=True, kw_only=True, tag="context.clear"):
    """Go on with an empty view; the log keeps everything, and UndoCompact brings it back."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (CompactionEnded, CompactionFailed)


class Snip(OpBase, frozen=True, kw_only=True, tag="context.snip"):
    """Take a middle part of the conversation out of the view."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (RangeSnipped,)

    first: str
    """An entry, the start of its id, or the number of a prompt."""
    last: str


class UndoCompact(OpBase, frozen=True, kw_only=True, tag="context.undo_compact"):
    """Bring back the view from before the last compaction, trim, snip or clearing."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (CompactionUndone,)

    force: bool = False
    """Also when the old view is too large for the model."""


class Pin(OpBase, frozen=True, kw_only=True, tag="context.pin"):
    """Keep a line, file or message through every compaction; or, with `pinned` false, no longer."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ItemPinned,)

    target: str
    pinned: bool = True


class Recall(OpBase, frozen=True, kw_only=True, tag="context.recall"):
    """Bring something that left the view back, word for word."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (ItemsRecalled,)

    query: str


class Rewind(OpBase, frozen=True, kw_only=True, tag="rewind"):
    """Go back to where the session stood before a prompt, or after any other entry."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (Rewound,)

    to: EntryId
    """An entry, the start of its id, or the number of a prompt."""
    scope: RewindScope = "both"
    only: tuple[str, ...] = ()
    """Only these files; empty: all."""
    force: bool = False
    """Also over edits that somebody else made since."""


class Undo(OpBase, frozen=True, kw_only=True, tag="undo"):
    """Take the file changes of the last turn that made any back."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (Rewound,)

    force: bool = False


class Redo(OpBase, frozen=True, kw_only=True, tag="redo"):
    """Take the last undo or rewind back."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (Rewound,)

    force: bool = False


class SwitchSession(OpBase, frozen=True, kw_only=True, tag="session.switch"):
    """Go on with another session behind the same door. When it cannot be opened, this one stays."""

    resume: str = ""
    """An id, title, words or file; empty: a new session."""
    fork: bool = False


class Sync(OpBase, frozen=True, kw_only=True, tag="sync"):
    """Nothing but a mark: its OpAccepted comes after everything that was told to this connection before."""

    needs: ClassVar[Rights] = Rights.WATCH


class Leave(OpBase, frozen=True, kw_only=True, tag="leave"):
    """End this connection; the session and everybody else at it go on."""

    needs: ClassVar[Rights] = Rights.WATCH


class Close(OpBase, frozen=True, kw_only=True, tag="close"):
    """End the session for everybody: interrupt what runs, write everything, then SessionEnded."""


if TYPE_CHECKING:
    Op = OpBase
else:
    Op = union_of(OpBase)

WindowOp = Compact | ClearContext | Snip | UndoCompact | Pin | Recall
"""Ops about what the model sees."""

__all__ = [
    "AddMcpServers",
    "AnswerApproval",
    "AnswerElicitation",
    "AnswerHookCall",
    "AnswerMcpMessage",
    "AnswerOp",
    "AnswerPlan",
    "AnswerQuestion",
    "Answerer",
    "CallbackHook",
    "CheckPlan",
    "ChooseSkills",
    "ClearContext",
    "Close",
    "Compact",
    "ContinueTurn",
    "DeliverMcpMessage",
    "Interrupt",
    "InvocableOp",
    "Leave",
    "LogInMcp",
    "LogOutMcp",
    "Op",
    "OpBase",
    "Pin",
    "Recall",
    "Redo",
    "RegisterHooks",
    "ReportFocus",
    "ReportTyping",
    "RequestRecap",
    "Rewind",
    "RunShell",
    "SetEffort",
    "SetModel",
    "SetPermissionMode",
    "SetScreen",
    "SetTheme",
    "SetTitle",
    "Snip",
    "SubmitPrompt",
    "SwitchSession",
    "Undo",
    "UndoCompact",
    "UseInvocable",
    "WindowOp",
    "WithdrawPrompt",
    "declined",
    "kind_of",
    "to_agent",
]
