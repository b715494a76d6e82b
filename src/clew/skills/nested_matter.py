"""What stands nested below a key of a front matter: maps, lists and texts, in block and flow form.

As much of YAML as definitions of hooks and servers are written in. Anchors, aliases and tags are refused, and an error
names its line.
"""

import re
from typing import Any

from clew.skills.front_matter import KEY, FrontMatterError, RawValue, folded_block, uncommented, unquoted

MAX_DEPTH = 20
_BLOCK = re.compile(r"([|>])([+-]?)\s*(?:#.*)?$")
_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[\[\]{},])|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,\[\]{}"'][^,\[\]{}]*?)"""
    r"""(?P<colon>\s*:(?=[\s\[{"',}\]]|$))?(?=\s*[,\[\]{}]|\s|$))"""
)
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


def nested_value(raw: RawValue) -> Any:
    """The value of a key as objects of Python. Raises FrontMatterError."""
    reader = _Reader(list(raw.lines), raw.line)
    if raw.rest and not raw.rest.startswith("#"):
        return reader.flow(raw.rest, raw.line - 1)
    value = reader.block(0)
    if reader.peek() is not None:
        raise FrontMatterError(reader.number, "this line is indented otherwise than those before it")
    return value


class _Reader:
    """Goes down the lines once."""

    def __init__(self, lines: list[str], first: int) -> None:
        self._lines = lines
        self._first = first
        self._at = 0

    @property
    def number(self) -> int:
        return self._first + self._at

    def peek(self) -> str | None:
        """The next line that says something."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and not line.lstrip().startswith("#"):
                if "\t" in line[: len(line) - len(line.lstrip())]:
                    raise FrontMatterError(self.number, "a tab stands where blanks must")
                return line.rstrip()
            self._at += 1
        return None

    def block(self, depth: int) -> Any:
        """The map, list or text that begins with the next line."""
        line = self.peek()
        if line is None:
            return None
        if depth > MAX_DEPTH:
            raise FrontMatterError(self.number, "it is nested too deeply")
        indent, bare = _indent(line), line.lstrip()
        if _is_item(bare):
            return self._list(indent, depth)
        if KEY.fullmatch(bare) is not None:
            return self._map(indent, depth)
        self._at += 1
        return self._scalar(bare, self.number - 1)

    def _list(self, indent: int, depth: int) -> list[Any]:
        found: list[Any] = []
        while (line := self.peek()) is not None and _indent(line) == indent and _is_item(line.lstrip()):
            rest = line[indent + 1 :]
            bare = rest.lstrip()
            if not bare or bare.startswith("#"):
                self._at += 1
                found.append(self._below(indent, depth))
            elif _is_item(bare) or (KEY.fullmatch(bare) is not None and bare[0] not in "\"'{["):
                self._lines[self._at] = " " * (indent + 1 + len(rest) - len(bare)) + bare
                found.append(self.block(depth + 1))
            else:
                self._at += 1
                found.append(self._value(bare, indent, self.number - 1))
        self._check_end(indent)
        return found

    def _map(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (line := self.peek()) is not None and _indent(line) == indent and not _is_item(line.lstrip()):
            match = KEY.fullmatch(line.lstrip())
            if match is None:
                raise FrontMatterError(self.number, f"expected `key: value`, not {line.strip()[:60]!r}")
            key = unquoted(match["key"].strip())
            if key in found:
                raise FrontMatterError(self.number, f"{key!r} is there twice")
            self._at += 1
            rest = match["rest"].strip()
            if rest and not rest.startswith("#"):
                found[key] = self._value(rest, indent, self.number - 1)
                continue
            following = self.peek()
            same = following is not None and _indent(following) == indent and _is_item(following.lstrip())
            found[key] = self._list(indent, depth + 1) if same else self._below(indent, depth)
        self._check_end(indent)
        return found

    def _below(self, indent: int, depth: int) -> Any:
        line = self.peek()
        return self.block(depth + 1) if line is not None and _indent(line) > indent else None

    def _check_end(self, indent: int) -> None:
        if (line := self.peek()) is not None and _indent(line) > indent:
            raise FrontMatterError(self.number, "this line is indented otherwise than those before it")

    def _value(self, rest: str, indent: int, number: int) -> Any:
        if (found := _BLOCK.fullmatch(rest)) is not None:
            return self._block_text(found, indent)
        if rest[0] in "{[":
            return self.flow(rest, number)
        return self._scalar(rest, number)

    def _block_text(self, found: re.Match[str], indent: int) -> str:
        taken: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and _indent(line) <= indent:
                break
            taken.append(line)
            self._at += 1
        depth = min((_indent(line) for line in taken if line.strip()), default=0)
        cut = [line[depth:] if line.strip() else "" for line in taken]
        while cut and not cut[-1] and found[2] != "+":
            cut.pop()
        text = "\n".join(cut) if found[1] == "|" else folded_block(cut)
        return text if found[2] == "-" or not text else text + "\n"

    def flow(self, rest: str, number: int) -> Any:
        """A list or map between brackets, over several lines too."""
        text = rest
        while (tokens := _tokens(text, number)) is None:
            line = self.peek()
            if line is None:
                raise FrontMatterError(number, f"the {rest[0]} is never closed")
            text += f" {line.strip()}"
            self._at += 1
        value = _flow(tokens, number, 0)
        if tokens:
            raise FrontMatterError(number, f"words follow the closing bracket: {tokens[0][:40]!r}")
        return value

    def _scalar(self, text: str, number: int) -> Any:
        if text[0] in "\"'":
            bare = uncommented(text)
            if len(bare) < 2 or bare[-1] != text[0]:
                raise FrontMatterError(number, f"the {text[0]} is not closed on its line")
            return unquoted(bare)
        if text[0] in "&*!%@`":
            raise FrontMatterError(number, f"a value cannot begin with {text[0]!r}: put it in quotes")
        return _plain(uncommented(text))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_item(bare: str) -> bool:
    return bare == "-" or bare.startswith("- ")


def _plain(text: str) -> Any:
    """A word without quotes: true, false and null are themselves, a number is one, all else is text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def _tokens(text: str, number: int) -> list[str] | None:
    """The marks and texts of a flow value, keys with their colon; None: a bracket is still open."""
    found: list[str] = []
    at = depth = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if depth == 0 and found:
            if uncommented(text[at:]):
                found.append(text[at:])
            return found
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at] in "\"'":
                return None
            raise FrontMatterError(number, f"this cannot be read: {text[at : at + 40]!r}")
        token = match["mark"] or f"{match['text']}{':' if match['colon'] else ''}"
        depth += (token in "[{") - (token in "]}")
        found.append(token if match["mark"] else f"={token}" if not match["colon"] else f":{match['text']}")
        at = match.end()
    return found if depth == 0 else None


def _flow(tokens: list[str], number: int, depth: int) -> Any:
    """Takes one value from the front. A token is a mark, `=text` or `:key`."""
    if depth > MAX_DEPTH:
        raise FrontMatterError(number, "it is nested too deeply")
    token = tokens.pop(0) if tokens else ""
    if token.startswith("="):
        text = token[1:]
        return unquoted(text) if text[0] in "\"'" else _plain(text.strip())
    if token not in ("[", "{"):
        raise FrontMatterError(number, f"a value is missing before {token[:20]!r}")
    closing = "]" if token == "[" else "}"
    items: list[Any] = []
    members: dict[str, Any] = {}
    while tokens and tokens[0] != closing:
        if token == "{":
            key = tokens.pop(0)
            if not key.startswith(":"):
                raise FrontMatterError(number, f"expected `key: value`, not {key[:40]!r}")
            empty = bool(tokens) and tokens[0] in (",", "}")
            members[unquoted(key[1:].strip())] = None if empty else _flow(tokens, number, depth + 1)
        else:
            items.append(_flow(tokens, number, depth + 1))
        if tokens and tokens[0] == ",":
            tokens.pop(0)
        elif tokens and tokens[0] != closing:
            raise FrontMatterError(number, f"a comma is missing before {tokens[0][:40]!r}")
    if not tokens:
        raise FrontMatterError(number, "a bracket is never closed")
    tokens.pop(0)
    return items if token == "[" else members
