"""Which words of a shell command may name files. Tolerant: whatever the text, there are words."""

import os
import re
from collections.abc import Iterator

from msgspec import Struct

PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "CLEW_PROJECT_DIR")
MAX_DEPTH = 4
_TOKEN = re.compile(
    r"""(?P<operator>[();<>|&\n]+)|[ \t\r]+"""
    r"""|(?P<word>(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s();<>|&'"\\])+)|(?P<rest>.)""",
    re.DOTALL,
)
_QUOTE = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
_ESCAPE = re.compile(r"""\\([\\"$`\n])""")
_VARIABLE = re.compile(r"\$(?:\w+|\{[^{}]*\})")
_INTERPRETER = re.compile(
    r"(?:ba|da|z|k|fi)?sh|python[\d.]*|pypy[\d.]*|node|deno|bun|tsx|ruby|perl|php|lua|awk|source|\."
)
_OUTPUT_PROGRAMS = frozenset({"tee"})


class Word(Struct, frozen=True):
    """One word without its quotes."""

    text: str
    runs: bool
    """It stands where the path of a program stands, or a script's after its interpreter."""


def words_of(command: str) -> list[Word]:
    """The words, those inside quoted words, and what follows a `=` or `:` in them.

    The target of an output redirection is left out, and so are tee's: a log that a hook writes is not what it runs.
    """
    return list(dict.fromkeys(word for word in _words(command, MAX_DEPTH) if word.text and "\0" not in word.text))


def expanded(text: str, root: str) -> list[str]:
    """What a word may stand for: with the project's directory and the home put in, and, where it begins with something
    that only a shell can know (`$(git rev-parse --show-toplevel)/x`), what is left of it as seen from the root."""
    for name in PROJECT_VARIABLES:
        text = text.replace(f"${{{name}}}", root).replace(f"${name}", root)
    home = os.path.expanduser("~")
    text = text.replace("${HOME}", home).replace("$HOME", home)
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    found = [text]
    bare = _VARIABLE.sub("", text)
    if bare.startswith("/"):
        found.append(bare.lstrip("/"))
    return [one for one in found if one]


def _words(command: str, depth: int) -> Iterator[Word]:
    program, before, is_target = "", "", False
    for match in _TOKEN.finditer(command):
        if operator := match["operator"]:
            is_target = ">" in operator and "<" not in operator and operator.rstrip("|&").endswith(">")
            if set(operator) - set("<>"):
                program, before = ("", "") if not is_target else (program, before)
            continue
        quoted = match["word"] or match["rest"]
        if not quoted or is_target:
            is_target = is_target and not quoted
            continue
        text = _unquoted(quoted)
        is_program = not program and not re.match(r"\w+=", text)
        if program not in _OUTPUT_PROGRAMS or is_program:
            runs = "/" in text if is_program else _INTERPRETER.fullmatch(program) is not None
            yield from _parts(text, quoted, before, runs=runs, depth=depth)
        if is_program:
            program = os.path.basename(text) or text
        before = text


def _parts(text: str, quoted: str, before: str, *, runs: bool, depth: int) -> Iterator[Word]:
    """A word, and what it holds."""
    yield Word(text, runs)
    for separator in "=:":
        if separator in text:
            yield from (Word(part, runs) for part in text.split(separator))
    if before == "-m" and re.fullmatch(r"[\w.]+", text):
        path = text.replace(".", "/")
        yield from (Word(f"{path}.py", runs), Word(f"{path}/__main__.py", runs))
    if depth > 0 and (quoted != text or "`" in text) and re.search(r"[\s();<>|&`$]", text):
        yield from _words(re.sub(r"\$?\(|\)|`", " ; ", text), depth - 1)


def _unquoted(word: str) -> str:
    def inside(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        return _ESCAPE.sub(r"\1", match[2]) if match[2] is not None else match[3]

    return _QUOTE.sub(inside, word)
