"""One row of the program table: which flags and operands are proven harmless, and reading a command against it (P3).

A row is written in a small language, so that the tables stay readable:
`-a` a flag; `-n:` a flag with a value; `-f@` a flag with a path; `--long`, `--long=` (value, attached or next word),
`--long=?` (value only attached), `--long=@` (path); `-#` numbers such as -20; `--pair==` a flag with two values.
Operands: `none`, `text` (any), `paths`, `path` (at most one), `pattern paths` (the first is text),
`anything` (every word is text, also one that looks like a flag), `script` (a path, and behind it or behind `-m` words
for that script).
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from clew.permissions.shell.reading.words import Word, WordPiece

Operands = Literal["none", "text", "paths", "path", "pattern paths", "anything", "script"]


class Parsed(NamedTuple):
    """A command read against its row."""

    flags: dict[str, list[str]]
    """Flags with all their values, in order."""
    operands: list[Word]
    paths: list[Word]
    """Everything that names a file to be read, operands included."""
    refused: str = ""
    """Why the row does not cover the command, or empty."""
    first: str = ""
    """The first word as it stands: a verb, or a flag before it."""


class Spec(NamedTuple):
    """What is proven about one program (or one subcommand of it)."""

    flags: str
    operands: Operands = "paths"
    check: Callable[[Parsed], str] | None = None
    """Looks at what flags alone cannot tell; says why not, or nothing."""
    needs_operand: bool = False
    flags_first: bool = False
    """The program takes every word after its first operand as an operand, also one that looks like a flag."""


class _Flags(NamedTuple):
    plain: frozenset[str]
    valued: frozenset[str]
    paths: frozenset[str]
    optional: frozenset[str]
    pairs: frozenset[str]
    numbers: bool


_compiled: dict[str, _Flags] = {}


def _flags_of(text: str) -> _Flags:
    """Compiled once per row, when the program is first seen."""
    found = _compiled.get(text)
    if found is not None:
        return found
    plain: set[str] = {"--help", "--version"}
    valued: set[str] = set()
    paths: set[str] = set()
    optional: set[str] = set()
    pairs: set[str] = set()
    for token in text.split():
        if token.endswith("=="):
            pairs.add(token[:-2])
        elif token.endswith("=?"):
            optional.add(token[:-2])
        elif token.endswith("@"):
            paths.add(token.rstrip("@="))
        elif token.endswith((":", "=")):
            valued.add(token[:-1])
        else:
            plain.add(token)
    row = _Flags(
        frozenset(plain), frozenset(valued), frozenset(paths), frozenset(optional), frozenset(pairs), "-#" in plain
    )
    _compiled[text] = row
    return row


class _Reader:
    """Walks over the words of one command."""

    def __init__(self, spec: Spec, words: list[Word], covered: frozenset[str]) -> None:
        self.row = _flags_of(spec.flags)
        # Where a second operand is an output file, a late "flag" may be taken for it (xxd does).
        self.flags_first = spec.flags_first or spec.operands == "path"
        self.script = spec.operands == "script"
        self.words = words
        self.covered = covered
        self.flags: dict[str, list[str]] = {}
        self.paths: list[Word] = []
        self.operands: list[Word] = []
        self.at = 0

    def read(self) -> str:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            text = word.text
            if text == "--" and not word.globs:
                self.operands += self.words[self.at :]
                return ""
            if self.script and not (len(text) > 1 and text.startswith("-") and text != "-m"):
                self.operands += self.words[self.at - (text != "-m") :]
                return "" if len(text) > 1 and text != "-" else "would read a program from its input"
            if len(text) < 2 or not text.startswith("-"):
                self.operands.append(word)
                continue
            if self.flags_first and self.operands:
                return f"{text} after an operand is not a flag"
            refused = self._long(text) if text.startswith("--") else self._short(text)
            if refused:
                return refused
        return ""

    def _value(self) -> Word | None:
        if self.at >= len(self.words):
            return None
        self.at += 1
        return self.words[self.at - 1]

    def _add(self, flag: str, value: str) -> None:
        self.flags.setdefault(flag, []).append(value)

    def _long(self, text: str) -> str:
        name, attached, value = text.partition("=")
        row = self.row
        if name in self.covered or text in self.covered:
            return ""
        if name in row.optional or (name in row.plain and not attached):
            self._add(name, value)
            return ""
        if name in row.pairs and not attached:
            first, second = self._value(), self._value()
            self._add(name, first.text if first else "")
            return "" if second else f"{name} needs two values"
        if name in row.valued or name in row.paths:
            word = None if attached else self._value()
            if not attached and word is None:
                return f"{name} needs a value"
            self._keep(name, word, value)
            return ""
        return f"flag {name} is not proven harmless"

    def _keep(self, name: str, word: Word | None, value: str) -> None:
        self._add(name, word.text if word else value)
        if name in self.row.paths:
            self.paths.append(word or Word(value, (WordPiece("bare", value),)))

    def _short(self, text: str) -> str:
        row = self.row
        if text in self.covered:
            return ""
        if row.numbers and text[1:].isdigit():
            return ""
        if text in row.plain or text in row.optional:
            self._add(text, "")
            return ""
        if len(text) > 2 and (text in row.valued or text in row.paths):
            word = self._value()
            if word is None:
                return f"{text} needs a value"
            self._keep(text, word, "")
            return ""
        for index in range(1, len(text)):
            flag = "-" + text[index]
            rest = text[index + 1 :]
            if flag in row.plain:
                self._add(flag, "")
            elif flag in row.optional:
                self._add(flag, rest)
                return ""
            elif flag in row.valued or flag in row.paths:
                word = None if rest else self._value()
                if not rest and word is None:
                    return f"{flag} needs a value"
                self._keep(flag, word, rest)
                return ""
            elif not (flag in self.covered and len(text) == 2):
                return f"flag {flag} is not proven harmless"
        return ""


def parse(spec: Spec, words: list[Word], covered: frozenset[str] = frozenset()) -> Parsed:
    """Read the words after the program's name. `covered`: flags that a user's rule names itself."""
    if spec.operands == "anything":
        parsed = Parsed({}, words, [])
        return parsed._replace(refused=spec.check(parsed) if spec.check else "")
    reader = _Reader(spec, words, covered)
    refused = reader.read()
    operands = reader.operands
    paths = reader.paths
    if not refused:
        refused = _operands(spec, operands, paths, reader.flags)
    parsed = Parsed(reader.flags, operands, paths, refused, words[0].text if words else "")
    if not refused and spec.check is not None:
        refused = spec.check(parsed)
        parsed = parsed._replace(refused=refused)
    return parsed


def _operands(spec: Spec, operands: list[Word], paths: list[Word], flags: dict[str, list[str]]) -> str:
    """Sort the operands into paths and text; say what does not fit."""
    if spec.needs_operand and not operands:
        return "would wait for input"
    if spec.operands == "none" and operands:
        return "takes no operand here"
    if spec.operands == "path" and len(operands) > 1:
        return "a second operand is an output file"
    if spec.operands in ("paths", "path"):
        paths += operands
    elif spec.operands == "pattern paths":
        given = any(flag in flags for flag in ("-e", "-f", "--regexp", "--file", "--files", "--type-list"))
        paths += operands if given else operands[1:]
    return ""
