"""What a search asks and what it finds, whoever searches."""

from typing import Literal, NamedTuple


class SearchQuery(NamedTuple):
    """What to look for."""

    pattern: str
    root: str
    mode: Literal["content", "files_with_matches", "count"] = "files_with_matches"
    globs: tuple[str, ...] = ()
    type: str = ""
    ignore_case: bool = False
    before: int = 0
    after: int = 0
    multiline: bool = False
    max_lines: int = 0
    """Stop after this many lines of output; 0: all."""


class SearchRows(NamedTuple):
    """Rows of (path, text); an empty path is a separator between groups."""

    rows: list[tuple[str, str]]
    matches: int
    timed_out: bool
    cut: bool
    error: str
    withheld: tuple[str, ...] = ()
    """Files that were left out because they may hold secrets, whether or not they match: a count of matches would
    tell their content bit by bit."""


def count_matches(rows: list[tuple[str, str]], mode: str) -> int:
    """Matches among rows; lines of context do not count."""
    if mode == "files_with_matches":
        return len(rows)
    if mode == "count":
        return sum(int(text) for _, text in rows if text.isdecimal())
    return sum(text.lstrip("0123456789").startswith(":") for path, text in rows if path)
