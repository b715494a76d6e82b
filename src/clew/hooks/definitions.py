"""What a hook is: when it is asked, for what, and how."""

from msgspec import Struct

from clew.protocol.event_kinds.programs import HookScope
from clew.protocol.events import HookRow

MOMENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
    "Notification",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
)
"""When hooks are asked."""
MATCHLESS = ("UserPromptSubmit", "Stop")
"""Moments that have nothing to match: whatever stands there as a matcher, their hooks are asked."""
DEFAULT_TIMEOUT_S = 60.0
MIN_TIMEOUT_S = 0.1
MAX_TIMEOUT_S = 3_600.0
USER_SCOPES = ("user", "given", "claude_user")
"""Where only the user writes, whatever the project."""


class HookDefinition(Struct, frozen=True, kw_only=True):
    """One command at one moment."""

    moment: str
    matcher: str
    """A tool's name, several with `|`, or a regular expression; empty or `*`: always."""
    command: str
    source: str
    scope: HookScope
    digest: str
    timeout_s: float = DEFAULT_TIMEOUT_S
    shell: str = "sh"
    """`sh` or `bash`."""
    sandbox: bool = True
    """It is held like a command; False: it runs outside the sandbox, as whoever wrote it wants."""
    agent: str = ""
    """The kind of agent whose definition brings it: it is asked about that agent's own calls only. Empty: a setting
    brings it, for all agents."""

    @property
    def needs_approval(self) -> bool:
        """Not written in clew's own settings of the user: somebody must have looked at it first."""
        return self.scope not in ("user", "given")

    @property
    def of_user(self) -> bool:
        """Written where only the user writes: its `allow` may answer an ask."""
        return self.scope in USER_SCOPES

    def row(self, *, approved: bool, trusted: bool) -> HookRow:
        """As people decide about it."""
        if not trusted and not self.of_user:
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
            sandbox=self.sandbox,
            agent=self.agent,
        )

    def concerns(self, moment: str, kind: str) -> bool:
        """Whether it is asked at this moment of an agent of this kind. The end of an agent's work is one moment for its
        own hooks, whether it is a child or the conversation."""
        if not self.agent:
            return self.moment == moment
        own = moment == self.moment or (moment == "Stop" and self.moment == "SubagentStop")
        return own and self.agent.casefold() == kind.casefold()
