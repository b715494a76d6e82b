"""Sub-commands that change clew's own state: the judge denies them to an agent, and they refuse below a session."""

import os
import re
from collections.abc import Sequence

ALL = frozenset[str]()
CHANGING: dict[str, tuple[frozenset[str], str]] = {
    "config": (frozenset({"set", "unset"}), "/config"),
    "permissions": (frozenset({"allow", "remove", "untrust"}), "/permissions"),
    "hooks": (frozenset({"approve", "revoke"}), "/hooks"),
    "mcp": (frozenset({"add", "add-json", "remove", "approve", "revoke", "login", "logout"}), "/mcp"),
    "auth": (frozenset({"set", "remove"}), "/model"),
    "sessions": (frozenset({"archive", "trash", "restore"}), "/resume"),
    "rewind": (ALL, "/rewind"),
    "answer": (ALL, ""),
    "attach": (ALL, ""),
    "start": (ALL, ""),
    "kill": (ALL, ""),
    "daemon": (ALL, ""),
    "triggers": (ALL, ""),
    "vault": (ALL, ""),
    "plugin": (ALL, ""),
    "serve": (ALL, ""),
    "import": (ALL, ""),
}
"""The actions of each sub-command that change something (all of them where none is named), and the slash command by
which a person does the same in the session."""
# Alone or behind other short flags, with the module attached or as the next word.
_MODULE = re.compile(r"-[A-Za-z]*m(?:clew)?")
_LAUNCHERS = ("uv", "uvx", "pipx", "poetry", "hatch", "pdm", "rye")


def changes_own_state(words: Sequence[str]) -> str:
    """The slash command that does the same, `-` where there is none; empty for words that change nothing of clew's.

    `words`: what follows the name of the program.
    """
    if not words or words[0] not in CHANGING:
        return ""
    actions, slash = CHANGING[words[0]]
    action = next((word for word in words[1:] if not word.startswith("-")), "")
    if (actions and action not in actions) or "--help" in words or "-h" in words:
        return ""
    return slash or "-"


def words_of_clew(argv: Sequence[str]) -> Sequence[str] | None:
    """What a command line says to clew: `clew …`, `python -m clew …`, `uvx clew …`; None where it starts another
    program."""
    name = os.path.basename(argv[0]) if argv else ""
    if name == "clew":
        return argv[1:]
    if name.startswith(("python", "pypy")):
        at = next((at for at, word in enumerate(argv) if _MODULE.fullmatch(word)), 0)
        attached = bool(at) and argv[at].endswith("mclew")
        if at and (attached or argv[at + 1 : at + 2] == ["clew"]):
            return argv[at + (1 if attached else 2) :]
    if name in _LAUNCHERS and "clew" in argv[1:4]:
        return argv[list(argv).index("clew") + 1 :]
    return None
