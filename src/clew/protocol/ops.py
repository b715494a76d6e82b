"""Ops: what a front end asks of the engine. Imperative, plain data."""

from typing import Any, Literal

from msgspec import field

from clew.protocol.asking import ApprovalDecision, ElicitationAction, PlanDecision
from clew.protocol.context_events import RewindScope
from clew.protocol.hook_ops import AnswerHookCall, ApproveHooks, CallbackHook, ListHooks, RegisterHooks
from clew.protocol.ids import MAIN_AGENT, AgentId, EntryId, PromptId, RequestId
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
    Lookup,
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
from clew.protocol.turn_events import PromptOrigin

Answerer = Literal["user", "nobody"]
"""`nobody`: the front end answers because no person can; the model is told so, not that the user said it."""


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

    agent: AgentId = MAIN_AGENT


class AnswerApproval(OpBase, frozen=True, kw_only=True, tag="approval.answer"):
    """Decide an ApprovalRequested by its id; an unknown or settled id is rejected."""

    request_id: RequestId
    decision: ApprovalDecision
    reason: str = ""
    """With `deny`: told to the model."""
    rules: tuple[str, ...] = ()
    """With `allow_always`: the offered rules to save, verbatim."""
    scope: Literal["", "session"] = ""
    """With `allow_always`. `session`: the rules hold until this session ends and nothing is written; empty: as each
    was offered."""
    mode: str = ""
    """With an allowing decision: the permission mode from now on, in the same moment. What else waits and is allowed
    by it is not asked again."""
    stop: bool = False
    """With `deny`: end the turn as well."""
    arguments: dict[str, Any] | None = None
    """With an allowing decision: run it with these instead. They are judged too: what is denied stays so."""
    by: Answerer = "user"


class AnswerQuestion(OpBase, frozen=True, kw_only=True, tag="question.answer"):
    """Answer a QuestionAsked: one tuple of chosen labels or free text per question."""

    request_id: RequestId
    answers: tuple[tuple[str, ...], ...]
    declined: bool = False
    by: Answerer = "user"


class AnswerPlan(OpBase, frozen=True, kw_only=True, tag="plan.answer"):
    """Say what becomes of a proposed plan."""

    request_id: RequestId
    decision: PlanDecision
    comment: str = ""
    """With `keep_planning`: what is missing, in the words of whoever answers."""
    plan: str = ""
    """With an accepting decision: this text counts instead. Empty: what stands in the plan's file."""
    mode: str = ""
    """With `accept`: go on in this permission mode instead of the one from before."""
    stop: bool = False
    """With `keep_planning`: end the turn as well."""
    by: Answerer = "user"


class CheckPlan(OpBase, frozen=True, kw_only=True, tag="plan.check"):
    """Have the work so far held against the plan: a prompt that goes through it item by item."""


class AnswerElicitation(OpBase, frozen=True, kw_only=True, tag="elicitation.answer"):
    """Give a server the values it asked for, or not."""

    request_id: RequestId
    action: ElicitationAction
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    """With `accept` of a form: what fits its schema, field by field."""
    by: Answerer = "user"


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


class SwitchSession(OpBase, frozen=True, kw_only=True, tag="session.switch"):
    """Go on with another session behind the same door. When it cannot be opened, this one stays."""

    resume: str = ""
    """An id, title, words or file; empty: a new session."""
    fork: bool = False


class Close(OpBase, frozen=True, kw_only=True, tag="close"):
    """End the session: interrupt what runs, write everything, then SessionEnded."""


Op = (
    SubmitPrompt
    | WithdrawPrompt
    | ContinueTurn
    | Interrupt
    | AnswerApproval
    | AnswerQuestion
    | AnswerPlan
    | CheckPlan
    | AnswerElicitation
    | AnswerHookCall
    | RegisterHooks
    | ListHooks
    | ApproveHooks
    | ListMcp
    | ApproveMcp
    | ReconnectMcp
    | ToggleMcp
    | LogInMcp
    | LogOutMcp
    | AnswerMcpMessage
    | DeliverMcpMessage
    | ReportFocus
    | SetModel
    | SetEffort
    | SetPermissionMode
    | SetTitle
    | RequestRecap
    | RunShell
    | RequestContext
    | Compact
    | ClearContext
    | Snip
    | UndoCompact
    | RequestReceipt
    | Pin
    | Recall
    | Rewind
    | Undo
    | Redo
    | SwitchSession
    | Close
    | InvocableOp
    | Lookup
)
WindowOp = Compact | ClearContext | Snip | UndoCompact | RequestReceipt | Pin | Recall | RequestContext
"""Ops about what the model sees."""

__all__ = [
    "AllowRule",
    "AnswerApproval",
    "AnswerElicitation",
    "AnswerHookCall",
    "AnswerMcpMessage",
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
    "ListHooks",
    "ListInvocables",
    "ListMcp",
    "ListMemory",
    "ListModels",
    "ListRules",
    "ListSessions",
    "ListShells",
    "LoadHistory",
    "LogInMcp",
    "LogOutMcp",
    "Lookup",
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
    "Snip",
    "StopShell",
    "SubmitPrompt",
    "SwitchSession",
    "ToggleMcp",
    "Undo",
    "UndoCompact",
    "UseInvocable",
    "WindowOp",
    "WithdrawPrompt",
]
