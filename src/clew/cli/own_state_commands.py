"""Sub-commands that change clew's own state: they refuse to run below a session of clew, in every mode.

Who stands above is read from the process table. A variable would be the command's to change.
"""

import os

from clew.permissions.own_commands import changes_own_state
from clew.system.peers import has_peer_credentials, session_above


def refused_below(words: list[str]) -> str:
    """Why these words may not be run here, or an empty string."""
    slash = changes_own_state(words)
    above = below_session() if slash else ""
    if not above:
        return ""
    hint = f"; type {slash} in the session" if slash != "-" else ""
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
