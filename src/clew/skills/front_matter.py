"""Front matter: the small part of YAML that skills and commands are written in; an error names its line.

Top-level keys with plain, quoted, folded (`>`) or literal (`|`) text, lists in both forms, and nested maps, which are
kept as they are written: `nested_matter.py` reads them. A plain value may hold a colon, as other agents allow:
`description: Use this: always` is one sentence.
Anchors, aliases and tags are not YAML that anybody writes here, and are refused.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

Value = str | tuple[str, ...] | None
"""Text, a list of texts; None: a map or nothing."""
KEY = re.compile(r"""(?P<key>[A-Za-z_][\w .-]*|"[^"\n]+"|'[^'\n]+')\s*:(?=\s|$)[ \t]*(?P<rest>.*)""")
_BLOCK = re.compile(r"([|>])([+-]?)([1-9]?)([+-]?)\s*(?:#.*)?$")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n[ \t]*|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
MAX_KEYS = 100
_KNOWN = """name description when-to-use argument-hint allowed-tools model effort disable-model-invocation
    user-invocable license compatibility metadata version"""
KNOWN_KEYS = frozenset(_KNOWN.split())
"""What skills and commands say of themselves, here and elsewhere."""


class FrontMatterError(ValueError):
    """What is wrong, and on which line of the file."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


class RawValue(Struct, frozen=True, kw_only=True):
    """What stands behind a key and below it, as it is written."""

    rest: str
    lines: tuple[str, ...]
    line: int
    """The number in the file of the first of them."""


class FrontMatterDocument(Struct, frozen=True, kw_only=True):
    """A file taken apart."""

    fields: dict[str, Value]
    body: str
    nested: dict[str, RawValue] = {}
    """The keys that may hold more than a text."""


class _Lines:
    """The lines between the fences, numbered as in the file."""

    def __init__(self, lines: list[str], first: int) -> None:
        self._lines = lines
        self._first = first
        self.at = 0

    @property
    def number(self) -> int:
        return self._first + self.at

    def peek(self) -> str | None:
        return self._lines[self.at] if self.at < len(self._lines) else None

    def take(self) -> str:
        self.at += 1
        return self._lines[self.at - 1]

    def between(self, first: int) -> tuple[str, ...]:
        """Those that were taken since."""
        return tuple(self._lines[first : self.at])

    def indented(self) -> Iterator[str]:
        """Lines that belong to the key above: deeper than it, or empty."""
        while (line := self.peek()) is not None and (not line.strip() or line[0] in " \t"):
            yield self.take()


def parse(text: str) -> FrontMatterDocument:
    """Take a file apart; one without front matter is all body. Raises FrontMatterError."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return FrontMatterDocument(fields={}, body=text)
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        raise FrontMatterError(1, "the front matter is never closed by ---")
    nested: dict[str, RawValue] = {}
    fields = _fields(_Lines(lines[1:end], 2), nested)
    return FrontMatterDocument(fields=fields, body="\n".join(lines[end + 1 :]), nested=nested)


def _fields(lines: _Lines, nested: dict[str, RawValue]) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    while (line := lines.peek()) is not None:
        number = lines.number
        if not line.strip() or line.lstrip().startswith("#"):
            lines.take()
            continue
        found = KEY.fullmatch(line.rstrip())
        if found is None:
            why = "a tab stands where blanks must" if line.startswith("\t") else "expected `key: value`"
            raise FrontMatterError(number, f"{why}, not {line.strip()[:60]!r}")
        lines.take()
        key = found["key"].strip("\"'").strip()
        if key in fields:
            raise FrontMatterError(number, f"{key!r} is there twice")
        if len(fields) >= MAX_KEYS:
            raise FrontMatterError(number, f"there are more than {MAX_KEYS} keys")
        rest, first = found["rest"], lines.at
        fields[key] = _value(rest, lines, number)
        if rest[:1] in ("", "{", "[", "#"):
            nested[key] = RawValue(rest=rest, lines=lines.between(first), line=number + 1)
    return fields


def _value(rest: str, lines: _Lines, number: int) -> Value:
    if block := _BLOCK.fullmatch(rest):
        return _block(block, lines, number)
    if rest.startswith(('"', "'")):
        return _quoted(rest, lines, number)
    if rest.startswith("["):
        return _flow_list(rest, lines, number)
    if rest.startswith("{"):
        _whole_flow(rest, lines, number, "{", "}")
        return None
    if rest.startswith(("&", "*", "!", "%", "@", "`")) and not rest.startswith(("*.", "**", "@/")):
        raise FrontMatterError(number, f"a value cannot begin with {rest[0]!r}: put it in quotes")
    plain = uncommented(rest)
    if not plain:
        return _nested(lines)
    return _folded([plain, *_continued(lines)]).strip()


def _continued(lines: _Lines) -> Iterator[str]:
    """Further lines of plain text. A key of ours that is only indented by mistake would vanish in it."""
    for line in lines.indented():
        found = KEY.fullmatch(line.strip())
        if found is not None and found["key"].strip().lower().replace("_", "-") in KNOWN_KEYS:
            raise FrontMatterError(lines.number - 1, f"{found['key'].strip()!r} is indented, so it would be no key")
        yield uncommented(line.strip())


def _nested(lines: _Lines) -> Value:
    """What stands below a key without a value: a list of texts, a map (which nobody here reads), or plain text."""
    items: list[list[str]] = []
    texts: list[str] = []
    is_map = False
    depth = 0
    while (line := lines.peek()) is not None:
        bare, number, indent = line.strip(), lines.number, len(line) - len(line.lstrip())
        if bare.startswith("#"):
            lines.take()
        elif (bare == "-" or bare.startswith("- ")) and (not items or indent <= depth):
            lines.take()
            items.append([_item(bare[1:].strip(), lines, number)])
            depth = indent
        elif items and (not bare or indent > depth):
            items[-1].append(uncommented(lines.take().strip()))
        elif not bare or line[0] in " \t":
            texts.append(lines.take().strip())
            is_map = is_map or KEY.fullmatch(bare) is not None
        else:
            break
    if items:
        return tuple(_folded(item).strip() for item in items)
    return None if is_map or not any(texts) else _folded(texts).strip()


def _item(text: str, lines: _Lines, number: int) -> str:
    if text.startswith(('"', "'")):
        return _quoted(text, lines, number)
    return uncommented(text)


def _block(found: re.Match[str], lines: _Lines, number: int) -> str:
    """`|` keeps line breaks, `>` folds them; `-` cuts the last one, `+` keeps all."""
    style, chomp, given = found[1], found[2] or found[4], found[3]
    texts = list(lines.indented())
    filled = [line for line in texts if line.strip()]
    if not filled:
        return ""
    depth = int(given) if given else min(len(line) - len(line.lstrip(" ")) for line in filled[:1])
    if depth == 0 or any(len(line) - len(line.lstrip(" ")) < depth for line in filled):
        raise FrontMatterError(number, "the lines of this text are not indented alike")
    cut = [line[depth:] if line.strip() else "" for line in texts]
    while cut and not cut[-1] and chomp != "+":
        cut.pop()
    text = "\n".join(cut) if style == "|" else folded_block(cut)
    return text if chomp == "-" else text + "\n"


def folded_block(lines: list[str]) -> str:
    """Lines become one, empty ones a break; lines that are indented further stay as they are."""
    text = ""
    kept = True  # nothing to fold before the first line
    breaks = 0
    for line in lines:
        if not line:
            breaks += 1
            continue
        deeper = line[0] in " \t"
        if text or breaks:
            joint = "\n" * breaks if breaks and not (kept or deeper) else "\n" * (breaks + 1) if text else "\n" * breaks
            text += joint if breaks or kept or deeper else " "
        text, kept, breaks = text + line, deeper, 0
    return text


def _quoted(rest: str, lines: _Lines, number: int) -> str:
    mark, text = rest[0], rest[1:]
    pattern = re.compile(r'((?:[^"\\]|\\.)*)"(.*)' if mark == '"' else r"((?:[^']|'')*)'(?!')(.*)", re.DOTALL)
    while (found := pattern.fullmatch(text)) is None:
        line = lines.peek()
        if line is None or (line.strip() and line[0] not in " \t"):
            raise FrontMatterError(number, f"the {mark} is never closed")
        text += "\n" + lines.take().strip()
    if uncommented(found[2].strip()):
        raise FrontMatterError(number, f"words follow the closing {mark}: {found[2].strip()[:40]!r}")
    inner = found[1]
    if mark == "'":
        return _folded(inner.split("\n")).replace("''", "'")
    return _ESCAPE.sub(_unescaped, _folded(re.sub(r"\\\n[ \t]*", "", inner).split("\n")))


def _unescaped(found: re.Match[str]) -> str:
    what = found[1]
    if what[0] in "xuU" and len(what) > 1:
        code = int(what[1:], 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    return _ESCAPED.get(what, what)


def _flow_list(rest: str, lines: _Lines, number: int) -> Value:
    """`[a, "b, c", 'd']`. Where something follows the bracket it is no list but text, as in `[file] [--all]`."""
    text = _whole_flow(rest, lines, number, "[", "]")
    if text is None:
        return uncommented(rest)
    items = re.findall(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:\([^()]*\)|[^,"'()])+)\s*(?:,|$)""", text)
    if not text.strip():
        return ()
    return tuple(item for piece in items if (item := unquoted(piece.strip())))


def _whole_flow(rest: str, lines: _Lines, number: int, opening: str, closing: str) -> str | None:
    """What stands between the brackets, over several lines too; None where more follows on the line."""
    text, depth, quote = "", 0, ""
    line = rest
    while True:
        for at, char in enumerate(line):
            if quote:
                quote = "" if char == quote else quote
            elif char in "\"'":
                quote = char
            elif char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
                if depth == 0:
                    follows = uncommented(line[at + 1 :].strip())
                    return None if follows else (text + line[:at])[1:]
        text += line + " "
        following = lines.peek()
        if following is None or (following.strip() and following[0] not in " \t"):
            raise FrontMatterError(number, f"the {opening} is never closed")
        line = lines.take().strip()


def unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return _ESCAPE.sub(_unescaped, text[1:-1])
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def uncommented(text: str) -> str:
    """Without a comment: a # that begins the text or follows a blank."""
    found = re.search(r"(?:^|\s)#", text)
    return text[: found.start()].rstrip() if found else text.rstrip()


def _folded(lines: list[str]) -> str:
    """Single breaks become blanks, empty lines breaks."""
    text, breaks = lines[0], 0
    for line in lines[1:]:
        if not line.strip():
            breaks += 1
        else:
            text += ("\n" * breaks if breaks else " ") + line.strip()
            breaks = 0
    return text
