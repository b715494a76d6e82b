"""A git configuration file read as text, as strictly as git reads it; what is not understood is an error."""

import re
from typing import NamedTuple

from clew.text.lazy_pattern import LazyPattern

_SECTION = LazyPattern(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = LazyPattern(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")


class Setting(NamedTuple):
    """`[section "name"] key = value`; section and key in lower case."""

    section: str
    name: str
    key: str
    value: str | None
    """None for a key without `=`, which means true."""


class ConfigError(ValueError):
    """The text is no configuration that we can read."""


def parse_config(text: str) -> list[Setting]:
    """All settings in order. Raises ConfigError."""
    found: list[Setting] = []
    section = name = ""
    at, size = (1 if text.startswith("\ufeff") else 0), len(text)
    while at < size:
        char = text[at]
        if char in " \t\r\n":
            at += 1
        elif char in "#;":
            at = _line_end(text, at)
        elif char == "[":
            head = _SECTION.match(text, at)
            if head is None:
                raise ConfigError("a section cannot be read")
            section, name, at = head[1].lower(), re.sub(r"\\(.)", r"\1", head[2] or ""), head.end()
            if "." in section and head[2] is None:
                section, _, name = section.partition(".")
        else:
            key = _KEY.match(text, at)
            if key is None or not section:
                raise ConfigError("a line cannot be read")
            at = key.end()
            if key[2]:
                value, at = _value(text, at)
            else:
                value = None
                rest = text[at : _line_end(text, at)].strip()
                if rest and rest[0] not in "#;":
                    raise ConfigError("a line cannot be read")
                at = _line_end(text, at)
            found.append(Setting(section, name, key[1].lower(), value))
    return found


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _value(text: str, at: int) -> tuple[str, int]:
    """The value from here, with quotes, escapes, comments and continued lines."""
    out: list[str] = []
    quoted = False
    size = len(text)
    while at < size:
        char = text[at]
        if char == "\n":
            if quoted:
                raise ConfigError("a quote is not closed")
            break
        if char == "\\":
            escaped = text[at + 1 : at + 2]
            if escaped == "\r" and text[at + 2 : at + 3] == "\n":
                at += 3
                continue
            if escaped not in ("\n", "n", "t", "b", '"', "\\"):
                raise ConfigError("an escape cannot be read")
            out.append({"\n": "", "n": "\n", "t": "\t", "b": "\b"}.get(escaped, escaped))
            at += 2
            continue
        if char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            at = _line_end(text, at)
            break
        else:
            out.append(char)
        at += 1
    if quoted:
        raise ConfigError("a quote is not closed")
    return "".join(out).strip(), at
