"""Slash names that users bring: custom commands, skills, prompts of servers. Which there are, which one is meant."""

from typing import Literal

from msgspec import Struct

from clew.protocol.base import LiveEvent

_NAMES = """
    ? agents away bashes branch catchup clear commands compact config context coordinator copy cost diff doctor effort
    exit export fork help hooks keys mcp memory mode model mouse new permissions pin plan q quit recall recap redo
    rename reopen resume rewind search sessions skills stats status tasks team theme title todos undo unpin usage
    version vim worktree
"""
RESERVED_NAMES = frozenset(_NAMES.split())
"""The slash names of our own commands, which no name of the user's replaces; listed, so that knowing them loads none:
tests/unit/commands/test_names.py holds it against the commands themselves."""
_ALIASES = frozenset(["?", "away", "catchup", "exit", "q", "rename", "usage"])
_WITH_A_SCREEN = frozenset(
    [
        "bashes",
        "branch",
        "coordinator",
        "copy",
        "fork",
        "new",
        "quit",
        "reopen",
        "resume",
        "tasks",
        "unpin",
        "vim",
        "worktree",
    ]
)
WITHOUT_A_SCREEN = tuple(sorted(RESERVED_NAMES - _ALIASES - _WITH_A_SCREEN))
"""The slash commands that work without a screen, for programs that offer them; naming them loads none."""

InvocableKind = Literal["command", "skill", "prompt"]
"""`prompt`: one that an MCP server offers."""

InvocableLevel = Literal["project", "user", "plugin", "server", "bundled"]
"""Whose it is. Of two with one name the earlier level counts."""


class InvocableRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One name, as people see it."""

    name: str
    """Without its slash."""
    kind: InvocableKind
    level: InvocableLevel
    description: str = ""
    argument_hint: str = ""
    source: str = ""
    """Where it comes from, in a few words: `project`, `user`, `plugin NAME`, `server NAME`, `clew`."""
    path: str = ""
    """The file, where there is one."""
    hidden: str = ""
    """Why the name does not mean this one; empty: it does."""
    notes: tuple[str, ...] = ()
    """What else should be known of it, a line each."""
    for_model: bool = False
    """The model may use it by itself."""
    for_user: bool = True
    """A person may type it."""

    @property
    def usable(self) -> bool:
        """Typing its name uses it."""
        return self.for_user and not self.hidden


class InvocablesChanged(LiveEvent, frozen=True, kw_only=True, tag="invocables.changed"):
    """These names can be typed from now on, in place of those that SessionStarted or an earlier one told."""

    invocables: tuple[InvocableRow, ...]


def typed_words(name: str, arguments: str) -> str:
    """What a person typed to use it."""
    return f"/{name} {arguments}".rstrip() if arguments.strip() else f"/{name}"


def meant(name: str, rows: tuple[InvocableRow, ...]) -> InvocableRow | None:
    """The row that a typed name means: by its whole name; with `project:` or `user:` before it, as some are used to,
    that one even where another hides it; by the last part of a nested name where only one has it. Case is ignored."""
    wanted = name.casefold()
    level, _, rest = wanted.partition(":")
    if level in ("project", "user") and rest:
        named = [row for row in rows if row.level == level and row.for_user]
        return next((row for row in named if row.name.casefold() == rest), None) or _alone(rest, named)
    usable = [row for row in rows if row.usable]
    return next((row for row in usable if row.name.casefold() == wanted), None) or _alone(wanted, usable)


def _alone(wanted: str, rows: list[InvocableRow]) -> InvocableRow | None:
    found = [row for row in rows if row.name.casefold().rpartition(":")[2] == wanted]
    return found[0] if len(found) == 1 else None
