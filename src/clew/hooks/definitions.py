"""What a hook is: when it is asked, for what, and how."""

from msgspec import Struct

from clew.protocol.events import HookRow
from clew.protocol.hook_events import HookScope

MOMENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "PreCompact",
    "SessionEnd",
    "Notification",
)
"""When hooks are asked."""
NOT_SENT_YET = ("SubagentStop", "TaskCreated", "TaskCompleted", "TeammateIdle")
"""Moments that settings may name and that never come yet."""
DEFAULT_TIMEOUT_S = 60.0


class Hook(Struct, frozen=True, kw_only=True):
    """One command at one moment."""

    moment: str
    matcher: str
    """A tool's name, several with `|`, or a regular expression; empty or `*`: always."""
    command: str
    source: str
    scope: HookScope
    digest: str
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def of_user(self) -> bool:
        """Written where only the user writes: its `allow` may answer an ask."""
        return self.scope in ("user", "given", "claude_user")

    def row(self, *, approved: bool, trusted: bool) -> HookRow:
        """As people decide about it."""
        if self.moment in NOT_SENT_YET:
            state = "not_sent"
        elif not trusted and self.scope not in ("user", "given", "claude_user"):
            state = "untrusted"
        else:
            state = "approved" if approved else "unapproved"
        return HookRow(
            digest=self.digest,
            moment=self.moment,
            matcher=self.matcher,
            command=self.command,
            source=self.source,
            scope=self.scope,
            state=state,
            timeout_s=self.timeout_s,
        )
