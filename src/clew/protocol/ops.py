"""Ops: what a front end asks of the engine. Imperative, plain data."""

from typing import TYPE_CHECKING, ClassVar

from clew.protocol.answer_ops import (
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
from clew.protocol.context_events import RewindScope
from clew.protocol.hook_ops import AnswerHookCall, ApproveHooks, CallbackHook, ListHooks, RegisterHooks
from clew.protocol.ids import EntryId, PromptId
from clew.protocol.invocable_ops import ChooseSkills, InvocableOp, ListInvocables, UseInvocable
from clew.protocol.lookup_ops import (
    AllowRule,
    ExportSession,
    FindFiles,
    ForgetLine,
    ListMemory,
    ListModels,
    ListRules,
    ListSessions,
    ListShells,
    LoadHistory,
    LookupOp,
    OpenPlan,
    PreviewSession,
    Remember,
    RemoveRule,
    RequestStatus,
    RunChecks,
    SavePlan,
    SetTheme,
    ShowDiff,
    ShowPlan,
    ShowShell,
    StopShell,
)
from clew.protocol.mcp_ops import (
    AnswerMcpMessage,
    ApproveMcp,
    DeliverMcpMessage,
    ListMcp,
    LogInMcp,
    LogOutMcp,
    ReconnectMcp,
    ToggleMcp,
)
from clew.protocol.messages import Part
from clew.protocol.op_base import OpBase
from clew.protocol.rights import Rights
from clew.protocol.turn_events import PromptOrigin
from clew.protocol.unions import union_of


class SubmitPrompt(OpBase, frozen=True, kw_only=True, tag="prompt.submit"):
    """Say something. When idle it starts a turn; while working it joins at the next step boundary."""

    content: str | tuple[Part, ...]
    origin: PromptOrigin = "user"
    prompt_id: PromptId = PromptId("")
    """To withdraw it by; given by the host when empty."""


class WithdrawPrompt(OpBase, frozen=True, kw_only=True, tag="prompt.withdraw"):
    """Take back input that has not joined yet."""

    prompt_id: PromptId


class ContinueTurn(OpBase, frozen=True, kw_only=True, tag="turn.continue"):
    """Go on with a turn that was cut off before this process began; rejected when the session ended in order."""


class Interrupt(OpBase, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn, also one that was only just asked for: calls settle, TurnEnded follows with reason
    `interrupted`. When idle, nothing."""


class CheckPlan(OpBase, frozen=True, kw_only=True, tag="plan.check"):
    """Have the work so far held against the plan: a prompt that goes through it item by item."""


class SetModel(OpBase, frozen=True, kw_only=True, tag="model.set"):
    """Use another model from the next request on."""

    model: str


class SetEffort(OpBase, frozen=True, kw_only=True, tag="effort.set"):
    """Ask for this much thinking from now on; empty: the model's own default. `keep` writes it to the settings."""

    effort: str
    keep: bool = False


class SetPermissionMode(OpBase, frozen=True, kw_only=True, tag="permission_mode.set"):
    """Change the permission mode; only ever sent by a person's front end."""

    mode: str


class ReportFocus(OpBase, frozen=True, kw_only=True, tag="focus.report"):
    """The person looks at this front end, or looks away; who never says so is taken to look."""

    needs: ClassVar[Rights] = Rights.WATCH

    focused: bool


class SetTitle(OpBase, frozen=True, kw_only=True, tag="title.set"):
    """Name the session; a user's title always wins."""

    title: str


class RequestRecap(OpBase, frozen=True, kw_only=True, tag="recap.request"):
    """Ask for a recap now; answered by RecapReady or a Notice."""

    model: bool = False
    """Let a model write it, if one is connected."""
    returned: bool = False
    """A person came back after a while and asked for nothing."""


class RunShell(OpBase, frozen=True, kw_only=True, tag="shell.run"):
    """Run a command the user typed, as in their own shell: not judged, not held by the sandbox. Between turns input
    waits for it; beside a turn its output joins at the next step boundary. ShellStarted, ShellProgress and ShellEnded
    follow; Interrupt stops it. `cd` in it does not move the session."""

    command: str


class RequestContext(OpBase, frozen=True, kw_only=True, tag="context.request"):
    """Ask what fills the window; answered by ContextMeasured with this id."""


class Compact(OpBase, frozen=True, kw_only=True, tag="context.compact"):
    """Make the view smaller now. Answered by CompactionEnded, ViewTrimmed or CompactionFailed."""

    focus: str = ""
    """What the summary should dwell on."""
    fast: bool = False
    """Only clear old tool outputs and media; no model is asked."""


class ClearContext(OpBase, frozen=True, kw_only=True, tag="context.clear"):
    """Go on with an empty view; the log keeps everything, and UndoCompact brings it back."""


class Snip(OpBase, frozen=True, kw_only=True, tag="context.snip"):
    """Take a middle part of the conversation out of the view."""

    first: str
    """An entry, the start of its id, or the number of a prompt."""
    last: str


class UndoCompact(OpBase, frozen=True, kw_only=True, tag="context.undo_compact"):
    """Bring back the view from before the last compaction, trim, snip or clearing."""

    force: bool = False
    """Also when the old view is too large for the model."""


class RequestReceipt(OpBase, frozen=True, kw_only=True, tag="context.receipt"):
    """Ask what the last compaction did; answered by ReceiptShown."""


class Pin(OpBase, frozen=True, kw_only=True, tag="context.pin"):
    """Keep a line, file or message through every compaction; or, with `pinned` false, no longer."""

    target: str
    pinned: bool = True


class Recall(OpBase, frozen=True, kw_only=True, tag="context.recall"):
    """Bring something that left the view back, word for word."""

    query: str


class Rewind(OpBase, frozen=True, kw_only=True, tag="rewind"):
    """Go back to where the session stood before a prompt, or after any other entry."""

    to: EntryId
    """An entry, the start of its id, or the number of a prompt. Empty, with `preview`: list the prompts."""
    scope: RewindScope = "both"
    preview: bool = False
    only: tuple[str, ...] = ()
    """Only these files; empty: all."""
    force: bool = False
    """Also over edits that somebody else made since."""


class Undo(OpBase, frozen=True, kw_only=True, tag="undo"):
    """Take the file changes of the last turn that made any back."""

    preview: bool = False
    force: bool = False


class Redo(OpBase, frozen=True, kw_only=True, tag="redo"):
    """Take the last undo or rewind back."""

    preview: bool = False
    force: bool = False


class ListTasks(OpBase, frozen=True, kw_only=True, tag="tasks.list"):
    """Ask which tasks run beside the conversation, and which did; answered by TasksListed."""

    needs: ClassVar[Rights] = Rights.WATCH


class ShowTask(OpBase, frozen=True, kw_only=True, tag="task.show"):
    """Ask what a task has put out; answered by TaskShown. For the model it stays unread."""

    needs: ClassVar[Rights] = Rights.WATCH

    task_id: str


class StopTask(OpBase, frozen=True, kw_only=True, tag="task.stop"):
    """End a task and everything it started; answered by TasksListed."""

    task_id: str


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

TaskOp = ListTasks | ShowTask | StopTask
"""Ops about what runs beside the conversation."""
WindowOp = Compact | ClearContext | Snip | UndoCompact | RequestReceipt | Pin | Recall | RequestContext
"""Ops about what the model sees."""

__all__ = [
    "AllowRule",
    "AnswerApproval",
    "AnswerElicitation",
    "AnswerHookCall",
    "AnswerMcpMessage",
    "AnswerOp",
    "AnswerPlan",
    "AnswerQuestion",
    "Answerer",
    "ApproveHooks",
    "ApproveMcp",
    "CallbackHook",
    "CheckPlan",
    "ChooseSkills",
    "ClearContext",
    "Close",
    "Compact",
    "ContinueTurn",
    "DeliverMcpMessage",
    "ExportSession",
    "FindFiles",
    "ForgetLine",
    "Interrupt",
    "InvocableOp",
    "Leave",
    "ListHooks",
    "ListInvocables",
    "ListMcp",
    "ListMemory",
    "ListModels",
    "ListRules",
    "ListSessions",
    "ListShells",
    "ListTasks",
    "LoadHistory",
    "LogInMcp",
    "LogOutMcp",
    "LookupOp",
    "Op",
    "OpBase",
    "OpenPlan",
    "Pin",
    "PreviewSession",
    "Recall",
    "ReconnectMcp",
    "Redo",
    "RegisterHooks",
    "Remember",
    "RemoveRule",
    "ReportFocus",
    "RequestContext",
    "RequestRecap",
    "RequestReceipt",
    "RequestStatus",
    "Rewind",
    "RunChecks",
    "RunShell",
    "SavePlan",
    "SetEffort",
    "SetModel",
    "SetPermissionMode",
    "SetTheme",
    "SetTitle",
    "ShowDiff",
    "ShowPlan",
    "ShowShell",
    "ShowTask",
    "Snip",
    "StopShell",
    "StopTask",
    "SubmitPrompt",
    "SwitchSession",
    "Sync",
    "TaskOp",
    "ToggleMcp",
    "Undo",
    "UndoCompact",
    "UseInvocable",
    "WindowOp",
    "WithdrawPrompt",
    "declined",
    "kind_of",
    "to_agent",
]
