"""Where a key stands in the text of valid JSON."""

import re
from collections.abc import Iterator

import msgspec

from clew.config.walk import KeyPath

_TOKEN = r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+'


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def line_of(text: str, path: KeyPath) -> int:
    """The line on which a key stands; 0 when it does not."""
    for key, offset in _keys(text):
        if key == path:
            return position(text, offset)[0]
    return 0


def repeated_key(text: str) -> tuple[KeyPath, int] | None:
    """The first key that stands twice in one object, of which JSON readers would silently drop one."""
    seen: set[KeyPath] = set()
    for key, offset in _keys(text):
        if key in seen:
            return key, offset
        seen.add(key)
    return None


def _keys(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Every key with its offset. Objects inside lists are passed over: settings have none."""
    trail: list[str] = []
    expect_key = False
    lists = 0
    for match in re.finditer(_TOKEN, text):
        token = match[0]
        if token in "[]":
            lists += 1 if token == "[" else -1
        elif lists:
            continue
        elif token == "{":
            trail.append("")
            expect_key = True
        elif token == "}":
            trail.pop()
            expect_key = False
        elif token == ",":
            expect_key = True
        elif expect_key and token[0] == '"':
            trail[-1] = msgspec.json.decode(token, type=str)
            expect_key = False
            yield tuple(trail), match.start()
