"""What a slash command is: words in, lines and ops out. Commands see plain data, never the machine room."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from clew.protocol.event_kinds.programs import HookRow, McpServerRow
from clew.protocol.invocables import InvocableRow
from clew.protocol.lookups.base import Lookup
from clew.protocol.ops import Op
from clew.protocol.state import SessionState


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What a front end has learned from events, as far as commands show it."""

    session_id: str = ""
    cwd: str = ""
    project: str = ""
    """The directory that the session was opened in; `cd` does not change it."""
    branch: str = ""
    model: str = ""
    effort: str = ""
    """Empty: the model's own default."""
    permission_mode: str = ""
    may_bypass: bool = False
    """The mode that asks for nothing is among those one cycles through."""
    version: str = ""
    resumed: bool = False
    kept: bool = True
    """The session is on disk, so it can be continued."""
    attached: bool = False
    """It lives in another process: leaving it ends nothing."""
    guests: tuple[str, ...] = ()
    """Front ends of other processes that are at this session."""
    state: SessionState = SessionState()
    models: tuple[str, ...] = ()
    """The models that were listed last."""
    hooks: tuple[HookRow, ...] = ()
    """The hooks that were listed last."""
    servers: tuple[McpServerRow, ...] = ()
    """The MCP servers, as they were told last."""
    invocables: tuple[InvocableRow, ...] = ()
    """Slash names that the user brought."""
    theme: str = ""
    answers: tuple[str, ...] = ()
    """What the model answered since this front end listens, newest last."""
    answering: bool = False
    """The newest answer may go on."""
    recap_source: str = ""
    recap_why: str = ""
    """Why the last recap was shown, or why none was."""


class CommandHelp(Struct, frozen=True, kw_only=True):
    """How one command is called and what it does."""

    name: str
    usage: str
    summary: str
    details: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class KeyHelp(Struct, frozen=True, kw_only=True):
    """A key, or several that do the same, as the front end calls them."""

    keys: str
    does: str
    where: str = ""


class CommandContext(Struct, frozen=True, kw_only=True):
    """All that a command may look at."""

    facts: SessionFacts = SessionFacts()
    catalogue: tuple[CommandHelp, ...] = ()
    """Every command there is; filled in by the registry."""
    keys: tuple[KeyHelp, ...] = ()
    """The keys of the front end."""
    theme: str = ""
    """The colours of the front end, where it has any."""
    screen: dict[str, str] = {}
    """The settings of the full screen as a person writes them; empty where there is none."""
    again: bool = False
    """The same command was the last thing typed: a question it asked is answered with yes."""


class CommandResult(Struct, frozen=True, kw_only=True):
    """What to show and what to ask of the engine. A command that failed asks nothing."""

    lines: tuple[str, ...] = ()
    ops: tuple[Op, ...] = ()
    lookups: tuple[Lookup[Any], ...] = ()
    """What to look up; the front end tells the answers."""
    is_error: bool = False
    leave: bool = False
    """End the front end."""
    ends: tuple[str, ...] = ()
    """What leaving would cut off: the front end asks, or the command is typed again."""
    copy: str = ""
    """Text for the clipboard."""


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
