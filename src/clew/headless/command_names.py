"""The slash commands that work without a screen, for programs that offer them; naming them loads none."""

from clew.protocol.invocables import RESERVED_NAMES

_ALIASES = frozenset(["?", "away", "catchup", "exit", "q", "rename", "usage"])
_WITH_A_SCREEN = frozenset(
    ["bashes", "branch", "copy", "fork", "new", "quit", "reopen", "resume", "tasks", "unpin", "vim"]
)
WITHOUT_A_SCREEN = tuple(sorted(RESERVED_NAMES - _ALIASES - _WITH_A_SCREEN))
