"""What a slash command is: words in, lines and ops out. Commands see plain data and ports, never the machine room."""

from collections.abc import Callable

from msgspec import Struct

from clew.protocol.ops import Op
from clew.protocol.usage import Usage


class ModelUse(Struct, frozen=True, kw_only=True):
    """What one model was asked for so far."""

    model: str
    requests: int = 0
    usage: Usage = Usage()
    cost_usd: float = 0.0
    unpriced: int = 0
    """Requests whose cost nobody knows: no price, or no usage reported."""


class SideUse(Struct, frozen=True, kw_only=True):
    """Model calls outside the conversation, by purpose."""

    purpose: str
    requests: int = 0
    cost_usd: float | None = None


class FileChange(Struct, frozen=True, kw_only=True):
    """Lines added to and removed from one file, over all its edits."""

    path: str
    added: int = 0
    removed: int = 0
    created: bool = False


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What a front end has learned from events, as far as commands show it."""

    session_id: str = ""
    cwd: str = ""
    model: str = ""
    permission_mode: str = ""
    version: str = ""
    title: str = ""
    working: bool = False
    resumed: bool = False
    """Earlier history exists that these figures do not cover."""
    turns: int = 0
    steps: int = 0
    calls: int = 0
    failed_calls: int = 0
    commands: int = 0
    duration_ms: int = 0
    models: tuple[ModelUse, ...] = ()
    side: tuple[SideUse, ...] = ()
    files: tuple[FileChange, ...] = ()
    denials: tuple[str, ...] = ()
    """Tool and subject of each denied approval."""
    saved_rules: tuple[str, ...] = ()
    """Rules saved with "always" in this session."""
    recap: str = ""
    recap_source: str = ""
    recap_why: str = ""
    """Why the last recap was shown, or why none was."""


class RuleRow(Struct, frozen=True, kw_only=True):
    """One permission rule in force."""

    decision: str
    rule: str
    scope: str


class CommandHelp(Struct, frozen=True, kw_only=True):
    """How one command is called and what it does."""

    name: str
    usage: str
    summary: str
    details: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def no_models() -> tuple[str, ...]:
    """The port of a front end that was given no list of models."""
    return ()


def no_rules() -> tuple[RuleRow, ...] | None:
    """The port of a front end that was given no view of the rules."""
    return None


class CommandContext(Struct, frozen=True, kw_only=True):
    """All that a command may look at."""

    facts: SessionFacts = SessionFacts()
    catalogue: tuple[CommandHelp, ...] = ()
    """Every command there is; filled in by the registry."""
    models: Callable[[], tuple[str, ...]] = no_models
    rules: Callable[[], tuple[RuleRow, ...] | None] = no_rules


class CommandResult(Struct, frozen=True, kw_only=True):
    """What to show and what to ask of the engine. A command that failed sends no ops."""

    lines: tuple[str, ...] = ()
    ops: tuple[Op, ...] = ()
    is_error: bool = False
    leave: bool = False
    """End the front end."""
    forget_rules: tuple[str, ...] = ()
    """Rules saved with "always" that the user takes back: out of the file, and out of the session in force."""


class Command(Struct, frozen=True, kw_only=True):
    """One slash command: its words and its function of context and argument text."""

    help: CommandHelp
    run: Callable[[CommandContext, str], CommandResult]


def usage_lines(about: CommandHelp) -> tuple[str, ...]:
    """What `--help` prints."""
    lines = [f"Usage: {about.usage}", about.summary, *about.details]
    if about.aliases:
        lines.append("Also: " + ", ".join(f"/{alias}" for alias in about.aliases))
    return tuple(lines)


def usage_error(about: CommandHelp, problem: str) -> CommandResult:
    """An argument made no sense: say so, print the usage, change nothing."""
    return CommandResult(lines=(problem, *usage_lines(about)), is_error=True)
