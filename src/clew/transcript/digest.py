"""What a list shows of a session, folded from its entries one by one; it can be put away and gone on with."""

import msgspec

from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    Entry,
    OpaqueEntry,
    SystemEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.messages import TextPart, ToolCallPart, ToolResultPart, UserMessage
from clew.protocol.usage import Usage

_MAX_PROMPT = 300
_LIMITED = {"max_turns", "max_budget", "output_limit", "prompt_too_long"}
_NOT_TYPED = ("<", "[Request interrupted", "Caveat:")
"""How texts begin that other programs put into the user's mouth."""


class Digest(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The facts of one row. Small, and pure: equal entries give equal digests."""

    own_title: str = ""
    given_title: str = ""
    summary_title: str = ""
    first_prompt: str = ""
    last_prompt: str = ""
    first_at: str = ""
    last_at: str = ""
    cwd: str = ""
    branch: str = ""
    model: str = ""
    turns: int = 0
    cost_usd: float | None = None
    usage: Usage = Usage()
    reply_usage: Usage = Usage()
    reply: str = ""
    recap: str = ""
    mark: str = "empty"
    """What came last: empty, prompt, call, result, text, question, or how a turn ended."""
    pending: list[str] = []
    entries: int = 0
    problems: int = 0

    @property
    def title(self) -> str:
        """The user's own title, else a given one, else the first thing asked."""
        return self.own_title or self.given_title or self.summary_title or self.first_prompt

    def state(self, *, alive: bool = False) -> str:
        """working, waiting, asking, idle, interrupted, limited, failed, empty or damaged."""
        if not self.entries:
            return "damaged" if self.problems else "empty"
        if self.pending:
            return "waiting"
        if self.mark in {"prompt", "call", "result"}:
            return "working" if alive else "interrupted"
        if self.mark in {"question", "text"}:
            return "asking" if self.mark == "question" else "idle"
        return self.mark

    def feed(self, entry: Entry) -> None:
        """Take one more entry."""
        if isinstance(entry, OpaqueEntry):
            if entry.type == "summary" and isinstance(entry.raw.get("summary"), str):
                self.summary_title = entry.raw["summary"]
        elif isinstance(entry, ChainEntry):
            if not entry.is_sidechain:
                self._chain(entry)
        elif isinstance(entry, CustomTitleEntry):
            self.own_title = entry.custom_title
        elif isinstance(entry, AiTitleEntry):
            self.given_title = entry.ai_title
        elif isinstance(entry, ApprovalEntry):
            self._approval(entry)
        elif isinstance(entry, TurnResultEntry):
            self._turn(entry)

    def _chain(self, entry: ChainEntry) -> None:
        self.entries += 1
        if entry.timestamp:
            self.first_at = self.first_at or entry.timestamp
            self.last_at = entry.timestamp
        self.cwd = self.cwd or entry.cwd
        self.branch = entry.git_branch or self.branch
        if isinstance(entry, UserEntry):
            self._user(entry)
        elif isinstance(entry, AssistantEntry):
            self._assistant(entry)
        elif isinstance(entry, SystemEntry):
            if entry.subtype == "away_summary":
                self.recap = entry.content
            elif entry.subtype == "interrupted":
                self.mark = "interrupted"

    def _user(self, entry: UserEntry) -> None:
        if answers(entry.message):
            self.mark = "result"
            return
        text = prompt_text(entry)
        if not text:
            if "[Request interrupted" in str(entry.message.content)[:200]:
                self.mark = "interrupted"
            return
        self.turns += 1
        self.first_prompt = self.first_prompt or text
        self.last_prompt = text
        self.mark = "prompt"

    def _assistant(self, entry: AssistantEntry) -> None:
        message = entry.message
        if entry.is_api_error_message:
            self.mark = "failed"
            return
        self.model = message.model or self.model
        if message.usage is not None:
            if message.id != self.reply:
                self.usage += self.reply_usage
                self.reply = message.id
            self.reply_usage = message.usage
        for part in message.content:
            if isinstance(part, ToolCallPart):
                self.mark = "call"
            elif isinstance(part, TextPart) and part.text.strip() and self.mark != "call":
                self.mark = "question" if part.text.rstrip().endswith(("?", "？")) else "text"

    def _approval(self, entry: ApprovalEntry) -> None:
        pending = [item for item in self.pending if item != entry.request_id]
        self.pending = [*pending, entry.request_id] if entry.decision == "pending" else pending

    def _turn(self, entry: TurnResultEntry) -> None:
        self.pending = []
        if entry.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + entry.cost_usd
        if entry.reason in _LIMITED:
            self.mark = "limited"
        elif entry.reason == "completed":
            self.mark = "question" if self.mark == "question" else "text"
        else:
            self.mark = "interrupted" if entry.reason in {"interrupted", "stopped_by_denial"} else "failed"

    @property
    def total_usage(self) -> Usage:
        """Tokens of all replies, each counted once."""
        return self.usage + self.reply_usage


def answers(message: UserMessage) -> bool:
    """Whether a message holds tool results."""
    return not isinstance(message.content, str) and any(isinstance(part, ToolResultPart) for part in message.content)


def prompt_text(entry: UserEntry) -> str:
    """What a person typed, on one line and bounded; empty for everything a program wrote."""
    if entry.is_meta or entry.is_compact_summary:
        return ""
    content = entry.message.content
    text = content if isinstance(content, str) else " ".join(p.text for p in content if isinstance(p, TextPart))
    text = " ".join(text[: _MAX_PROMPT * 4].split())
    return "" if text.startswith(_NOT_TYPED) else text[:_MAX_PROMPT]
