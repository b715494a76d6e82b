"""Sub-commands that change clew's own state: they refuse to run below a session of clew, in every mode.

Who stands above is read from the process table. A variable would be the command's to change.
"""

import os

from clew.system.peers import has_peer_credentials, session_above

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


def refused_below(words: list[str]) -> str:
    """Why these words may not be run here, or an empty string."""
    if not words or words[0] not in CHANGING:
        return ""
    actions, slash = CHANGING[words[0]]
    action = next((word for word in words[1:] if not word.startswith("-")), "")
    if (actions and action not in actions) or "--help" in words or "-h" in words:
        return ""
    above = below_session()
    if not above:
        return ""
    hint = f"; type {slash} in the session" if slash else ""
    return f"{above}: clew's own state is changed by a person, from a terminal of theirs{hint}"


def below_session() -> str:
    """In words, the session of clew that this process runs below; empty where there is none."""
    if not has_peer_credentials():
        return ""
    try:
        above = session_above(os.getpid())
    except ProcessLookupError as error:
        return f"it is not known where this process comes from ({error})"
    return f"this runs below a clew session (process {above})" if above else ""
