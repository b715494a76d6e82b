"""Events about hooks: what the user's own programs say at set moments, and which of them may run."""

from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.event_kinds.base import LiveEvent
from clew.protocol.ids import CallId, RequestId

HookScope = Literal["user", "given", "project", "local", "claude_user", "claude_project", "claude_local", "client"]
"""Where a hook is written: the user's settings, `--settings`, the project's two files, the three of Claude Code; or it
is a callback of the program that drives this session."""

HookState = Literal["approved", "unapproved", "untrusted", "not_sent"]
"""`not_sent`: a moment that is known and never comes yet."""


class HookRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hook, as people decide about it."""

    digest: str
    """Of its definition and of the project files that its command names; what is approved is exactly this."""
    moment: str
    matcher: str
    command: str
    source: str
    """The file that holds it."""
    scope: HookScope
    state: HookState
    timeout_s: float = 60.0


class HooksOffered(LiveEvent, frozen=True, kw_only=True, tag="hooks.offered"):
    """Hooks that were found and are not approved: they do not run until `ApproveHooks` names them."""

    hooks: tuple[HookRow, ...]


class HooksChanged(LiveEvent, frozen=True, kw_only=True, tag="hooks.changed"):
    """A person approved hooks, or took that back: all hooks as they are now."""

    hooks: tuple[HookRow, ...]


class HookAwaited(LiveEvent, frozen=True, kw_only=True, tag="hook.awaited"):
    """A hook takes its time, and something waits for it. HookRan follows."""

    hook: str
    moment: str


class HookRan(LiveEvent, frozen=True, kw_only=True, tag="hook.ran"):
    """A hook of the user ran."""

    hook: str
    moment: str
    outcome: Literal["ok", "blocked", "failed", "timed_out"]
    detail: str = ""
    duration_ms: int = 0


class HookCalled(LiveEvent, frozen=True, kw_only=True, tag="hook.called"):
    """A callback hook is due. Answer with `AnswerHookCall` and this id; the moment waits for it until its timeout."""

    request_id: RequestId
    callback_id: str
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    call_id: CallId | None = None


class HookCallWithdrawn(LiveEvent, frozen=True, kw_only=True, tag="hook.withdrawn"):
    """Nobody waits for this callback's answer any more."""

    request_id: RequestId
