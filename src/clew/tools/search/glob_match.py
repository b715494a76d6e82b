"""Glob patterns as regular expressions over relative paths with slashes."""

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def glob_regex(pattern: str) -> re.Pattern[str]:
    """`**` crosses directories, `*` and `?` do not, `{a,b}` chooses. Without a slash it matches at any depth."""
    anchored = pattern.removeprefix("./")
    prefix = "" if "/" in anchored.strip("/") or anchored.startswith("/") else "(?:.*/)?"
    return re.compile(prefix + translate(anchored.lstrip("/")), re.DOTALL)


def translate(pattern: str) -> str:
    """The regular expression of one pattern."""
    out: list[str] = []
    depth = position = 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            stars = len(pattern[position - 1 :]) - len(pattern[position - 1 :].lstrip("*"))
            position += stars - 1
            if stars < 2:
                out.append("[^/]*")
            elif pattern[position : position + 1] == "/":
                position += 1
                out.append("(?:.*/)?")
            else:
                out.append(".*")
        elif char == "[" and (end := class_end(pattern, position)) > 0:
            body = pattern[position:end].replace("\\", "\\\\")
            out.append("[^/" + body[1:] + "]" if body[0] in "!^" else f"[{body}]")
            position = end + 1
        elif char == "{" and "}" in pattern[position:]:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "?":
            out.append("[^/]")
        else:
            out.append(re.escape(char))
    return "".join(out) + ")" * depth


def class_end(pattern: str, start: int) -> int:
    """The index of the bracket that closes a character class opened before `start`; -1 when none does."""
    return pattern.find("]", start + 2 if pattern[start : start + 1] in ("!", "^") else start + 1)
