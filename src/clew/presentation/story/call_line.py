"""One call in one line: what it came to, or what it is about."""

from clew.orient.deeds import lined, named_call
from clew.presentation.story.passages import CallShown
from clew.text.terminal_text import sanitize

MIN_COLUMNS = 12


def call_line(shown: CallShown, columns: int, cwd: str = "") -> str:
    """One call in one line: what it came to, or what it is about. Paths are as one in `cwd` would write them."""
    who = f"[{sanitize(shown.agent, one_line=True)}] " if shown.agent else ""
    if shown.deeds:
        return who + lined(shown.deeds, max(columns - 10 - len(who), MIN_COLUMNS))
    words = sanitize(named_call(shown.call, cwd), one_line=True)
    state = {"asking": "waits for your answer: ", "running": "", "announced": "", "ended": ""}[shown.state]
    return who + state + words
