"""What clew answers to control requests, in the shapes that drivers of such agents read."""

from typing import Any

from msgspec import Struct, field

Json = dict[str, Any]


class AnswerBase(Struct, frozen=True, kw_only=True):
    """The `response` of a successful control response."""


class CommandOffer(AnswerBase, frozen=True, kw_only=True, rename="camel"):
    """A slash command that a prompt may be."""

    name: str
    description: str
    argument_hint: str = ""


class ModelOffer(AnswerBase, frozen=True, kw_only=True, rename="camel"):
    """A model that can be named."""

    value: str
    display_name: str
    description: str = ""


class Initialized(AnswerBase, frozen=True, kw_only=True):
    """What there is here."""

    commands: tuple[CommandOffer, ...]
    models: tuple[ModelOffer, ...]
    pid: int
    hooks_applied: bool
    hook_on_failure_supported: bool = True
    output_style: str = "default"
    available_output_styles: tuple[str, ...] = ("default",)
    agents: tuple[Json, ...] = ()
    account: Json = field(default_factory=Json)
    """Always empty: clew knows keys, not accounts."""
    notes: tuple[str, ...] = ()
    """What was asked for and is not used."""


class Interrupted(AnswerBase, frozen=True, kw_only=True):
    """The turn is being stopped."""

    still_queued: tuple[str, ...] = ()
    """The `uuid`s of prompts that wait and will run."""


class MessageCancelled(AnswerBase, frozen=True, kw_only=True):
    """Whether a prompt was taken back."""

    cancelled: bool


class EffortUsed(AnswerBase, frozen=True, kw_only=True):
    """What a number of thinking tokens became; empty: the model's own default."""

    effort: str


class FilesRewound(AnswerBase, frozen=True, kw_only=True, rename="camel"):
    """What went back, or with `dry_run` would."""

    can_rewind: bool
    files_changed: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Files that somebody else changed since; they were left alone."""


class McpStatus(AnswerBase, frozen=True, kw_only=True, rename="camel"):
    """The MCP servers."""

    mcp_servers: tuple[Json, ...] = ()


class ContextCategory(AnswerBase, frozen=True, kw_only=True):
    """One kind of content in the window."""

    name: str
    tokens: int
    color: str


class ContextUsage(AnswerBase, frozen=True, kw_only=True, rename="camel"):
    """What fills the window."""

    categories: tuple[ContextCategory, ...]
    total_tokens: int
    max_tokens: int
    raw_max_tokens: int
    percentage: float
    model: str
    is_auto_compact_enabled: bool
    auto_compact_threshold: int
    estimated: bool
    """Not as a provider counted it."""
    memory_files: tuple[Json, ...] = ()
    mcp_tools: tuple[Json, ...] = ()
    agents: tuple[Json, ...] = ()
    grid_rows: tuple[tuple[Json, ...], ...] = ()
