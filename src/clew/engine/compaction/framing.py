"""Text of others, quoted so that it stays a quotation: fences longer than any run inside, names on one line."""

import re

from clew.text.terminal_text import sanitize

_RUN = re.compile(r"`{3,}|~{3,}")
_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
CUT = "\n[…]\n"


def fence_for(*texts: str) -> str:
    """A fence that nothing in these texts can close."""
    longest = max((len(run) for text in texts for run in _RUN.findall(text)), default=2)
    return "`" * max(3, longest + 1)


def fenced(text: str, label: str = "") -> str:
    """The text between fences, word for word."""
    fence = fence_for(text)
    return f"{fence}{label}\n{text}\n{fence}"


def listed(text: str) -> str:
    """The text as one item of a list: on its line where it is one, between fences where it is more."""
    if _BREAKS.search(text) or _RUN.search(text) or text != text.strip() or not text:
        return fenced(text)
    return f"- {text}"


def one_line(text: str, max_chars: int = 300) -> str:
    """A name or a command of others as one line without control characters; cut where it is longer."""
    flat = " ".join(_BREAKS.sub(" ", sanitize(text, one_line=False)).split())
    return flat if len(flat) <= max_chars else flat[: max_chars - 1] + "…"


def clipped(text: str, max_chars: int) -> str:
    """Beginning and end of a long text, with a mark between them."""
    if len(text) <= max_chars:
        return text
    room = max(2, max_chars - len(CUT))
    head = room * 2 // 3
    return text[:head] + CUT + text[len(text) - (room - head) :]
