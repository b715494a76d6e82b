"""Several sessions fit: the person at the terminal chooses one by its number."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from clew.text.figures import ago
from clew.text.terminal_text import clip, sanitize

_COLUMNS = 100


class FittingSession(Protocol):
    """A session that fits."""

    @property
    def agent(self) -> str: ...
    @property
    def session_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def project(self) -> str: ...
    @property
    def changed_s(self) -> float: ...


C = TypeVar("C", bound=FittingSession)


def can_choose() -> bool:
    """Whether somebody can answer. The question goes to stderr: stdout may be a file."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def choose_session(query: str, candidates: Sequence[C]) -> C | None:
    """Show what fits, newest first as given, and read a number; nothing chosen is None."""
    sys.stderr.write(f"{len(candidates)} sessions fit {sanitize(query, one_line=True)!r}:\n")
    for number, found in enumerate(candidates, 1):
        sys.stderr.write(f"{candidate_row(number, found)}\n")
    while True:
        sys.stderr.write(f"Which one? [1-{len(candidates)}, Enter for none] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip()
        if not answer:
            if not line:
                sys.stderr.write("\n")
            return None
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(candidates):
            return candidates[int(answer) - 1]


def candidate_row(number: int, found: FittingSession) -> str:
    """One line: number, title, whose it is, where, how old."""
    project = Path(found.project).name if found.project else ""
    age = ago(max(0.0, time.time() - found.changed_s)) if found.changed_s else ""
    where = " · ".join(part for part in (found.agent, project, age) if part)
    title = found.title or found.session_id
    return clip(sanitize(f"{number:>2}. {title}", one_line=True), _COLUMNS - 30) + sanitize(
        f"  ({where})", one_line=True
    )
