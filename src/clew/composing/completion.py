"""Completion: what is being completed at the caret, which commands fit, and what an accepted row puts into the text."""

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from clew.commands.base import CommandHelp

MAX_QUERY_CHARS = 300
MAX_ROWS = 50
_BEFORE_MENTION = frozenset(" \t([{'\"`,;:=<>")
_WORDS = re.compile(r"[a-z0-9]+")
_LEAST_INTENT_CHARS = 3


class CompletionTarget(Struct, frozen=True):
    """Something is being completed: columns `start` to `end` of the caret's line are to be replaced."""

    kind: Literal["command", "file"]
    query: str
    start: int
    end: int


class Candidate(Struct, frozen=True):
    """One row of the list."""

    text: str
    """What stands in the text afterwards, with its mark."""
    label: str
    detail: str = ""
    more: bool = False
    """Accepting it goes on: a directory, whose files can be completed next."""


def wanted_at(line: str, column: int, *, first_line: bool) -> CompletionTarget | None:
    """What the caret stands at the end of. Looks at one line, and at no more than a name's length of it."""
    if first_line and line.startswith("/") and not line.startswith("//") and column >= 1:
        name = line[1:column]
        if len(name) <= MAX_QUERY_CHARS and not any(char.isspace() or char == "/" for char in name):
            return CompletionTarget("command", name, 0, column + _rest(line, column))
    start = max(0, column - MAX_QUERY_CHARS)
    before = line[start:column]
    quoted = before.rfind('@"')
    if quoted >= 0 and '"' not in before[quoted + 2 :] and _begins(line, start + quoted):
        return CompletionTarget("file", before[quoted + 2 :], start + quoted, column)
    at = before.rfind("@")
    if at < 0 or any(char.isspace() for char in before[at:]) or not _begins(line, start + at):
        return None
    return CompletionTarget("file", before[at + 1 :], start + at, column + _rest(line, column))


def _begins(line: str, at: int) -> bool:
    """A mention starts a word: the @ of an address does not."""
    return at == 0 or line[at - 1] in _BEFORE_MENTION


def _rest(line: str, column: int) -> int:
    """How many characters of the same word follow the caret; they are replaced too."""
    for count, char in enumerate(line[column : column + MAX_QUERY_CHARS]):
        if char.isspace():
            return count
    return len(line[column : column + MAX_QUERY_CHARS])


def command_rows(query: str, commands: Iterable[CommandHelp]) -> tuple[Candidate, ...]:
    """The commands that fit: by the start of their name, then of another name of theirs, then by what they are for."""
    wanted = query.lower()
    ranked: list[tuple[int, int, Candidate]] = []
    for order, about in enumerate(commands):
        rank = _rank(wanted, about)
        if rank is not None:
            ranked.append((rank, order, Candidate(f"/{about.name}", f"/{about.name}", about.summary)))
    return tuple(row for _, _, row in sorted(ranked, key=lambda item: item[:2]))[:MAX_ROWS]


def _rank(wanted: str, about: CommandHelp) -> int | None:
    if about.name == wanted:
        return 0
    if about.name.startswith(wanted):
        return 1
    if any(alias.startswith(wanted) for alias in about.aliases):
        return 2
    if len(wanted) < _LEAST_INTENT_CHARS:
        return None
    if wanted in about.name:
        return 3
    words = _WORDS.findall(about.summary.lower())
    return 4 if any(word.startswith(wanted) for word in words) else None


def file_rows(paths: Iterable[str]) -> tuple[Candidate, ...]:
    """Rows for the paths that were found, best first as they came."""
    return tuple(Candidate(mention(path), path, more=path.endswith("/")) for path in paths)[:MAX_ROWS]


def mention(path: str) -> str:
    """How a path is written into a prompt: in quotes when it holds blanks, which stay open after a directory."""
    if not any(char.isspace() for char in path):
        return f"@{path}"
    return f'@"{path}' if path.endswith("/") else f'@"{path}"'


def accepted(line: str, wanted: CompletionTarget, row: Candidate) -> tuple[str, int, int]:
    """What replaces columns `start` to `end`: the row's text, and a blank unless one follows or more is to come."""
    blank = "" if row.more or line[wanted.end : wanted.end + 1].isspace() else " "
    return row.text + blank, wanted.start, wanted.end
