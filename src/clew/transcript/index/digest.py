"""What a list shows of a session, folded from its entries one by one; it can be put away and gone on with."""

import msgspec

from clew.protocol.entries import (
    AiTitleEntry,
    ApprovalEntry,
    AssistantEntry,
    ChainEntry,
    CustomTitleEntry,
    Entry,
    EventEntry,
    OpaqueEntry,
    SessionStateEntry,
    SystemEntry,
    SystemPromptEntry,
    TombstoneEntry,
    TurnResultEntry,
    UserEntry,
)
from clew.protocol.messages import TextPart, ToolResultPart, UserMessage
from clew.protocol.usage import Usage
from clew.transcript.chain.closing_words import ReadStanding
from clew.transcript.mapping.typed_text import HOUSEKEEPING, is_interruption, typed

_MAX_PROMPT = 300


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
    standing: ReadStanding = msgspec.field(default_factory=ReadStanding)
    entries: int = 0
    problems: int = 0

    @property
    def title(self) -> str:
        """The user's own title, else a given one, else the first thing asked."""
        return self.own_title or self.given_title or self.summary_title or self.first_prompt

    def state(self, *, alive: bool = False, found_bytes: int = 0) -> str:
        """The word of its standing, or what is wrong with the file: empty, damaged. `alive`: somebody writes it now,
        who found it `found_bytes` long."""
        if not self.entries:
            return "damaged" if self.problems else "empty"
        return self.standing.state(held=alive, found_bytes=found_bytes).value

    def feed(self, entry: Entry, at: int = 0) -> None:
        """Take one more entry, which begins at this byte of the file."""
        if isinstance(entry, OpaqueEntry):
            if entry.type == "summary" and isinstance(entry.raw.get("summary"), str):
                self.summary_title = entry.raw["summary"]
        elif isinstance(entry, ChainEntry):
            if not entry.is_sidechain:
                self._chain(entry, at)
        elif isinstance(entry, CustomTitleEntry):
            self.own_title = entry.custom_title
        elif isinstance(entry, AiTitleEntry):
            self.given_title = entry.ai_title
        elif isinstance(entry, ApprovalEntry | EventEntry | SystemPromptEntry | SessionStateEntry | TombstoneEntry):
            self.standing.feed(entry, at)
        elif isinstance(entry, TurnResultEntry):
            self.standing.feed(entry, at)
            if entry.cost_usd is not None:
                self.cost_usd = (self.cost_usd or 0.0) + entry.cost_usd

    def _chain(self, entry: ChainEntry, at: int) -> None:
        self.entries += 1
        self.standing.feed(entry, at)
        if entry.timestamp:
            self.first_at = self.first_at or entry.timestamp
            self.last_at = entry.timestamp
        self.cwd = self.cwd or entry.cwd
        self.branch = entry.git_branch or self.branch
        if isinstance(entry, UserEntry):
            self._user(entry)
        elif isinstance(entry, AssistantEntry):
            self._assistant(entry)
        elif isinstance(entry, SystemEntry) and entry.subtype == "away_summary":
            self.recap = entry.content

    def _user(self, entry: UserEntry) -> None:
        text = prompt_text(entry)
        if text:
            self.turns += 1
            self.first_prompt = self.first_prompt or text
            self.last_prompt = text

    def _assistant(self, entry: AssistantEntry) -> None:
        message = entry.message
        if entry.is_api_error_message:
            return
        self.model = message.model or self.model
        if message.usage is not None:
            if message.id != self.reply:
                self.usage += self.reply_usage
                self.reply = message.id
            self.reply_usage = message.usage

    @property
    def total_usage(self) -> Usage:
        """Tokens of all replies, each counted once."""
        return self.usage + self.reply_usage


def answers(message: UserMessage) -> bool:
    """Whether a message holds tool results."""
    return not isinstance(message.content, str) and any(isinstance(part, ToolResultPart) for part in message.content)


def prompt_text(entry: UserEntry) -> str:
    """What a person typed, on one line and bounded; empty for everything a program wrote."""
    if entry.is_meta or entry.is_compact_summary or answers(entry.message):
        return ""
    content = entry.message.content
    text = content if isinstance(content, str) else "\n".join(p.text for p in content if isinstance(p, TextPart))
    if is_interruption(text):
        return ""
    words, command = typed(text)
    shown = words if not command else f"{command} {words}".strip() if words or command not in HOUSEKEEPING else ""
    return " ".join(shown[: _MAX_PROMPT * 4].split())[:_MAX_PROMPT]
