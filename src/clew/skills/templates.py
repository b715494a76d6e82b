"""The body of a command as pieces: words, files that are put in, commands whose output is put in. Then its arguments.

What the arguments say is never looked through for files or commands: only what the file itself says counts.
"""

import os
import re
from typing import Literal

from msgspec import Struct

MAX_PIECES = 20
MAX_COMMAND_CHARS = 4_000
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"(?<![^\s(\[>])!`(?P<command>[^`\n]+)`")
_FILE = re.compile(r"""(?<![^\s(\[>])@(?:"(?P<quoted>[^"\n]+)"|(?P<path>[^\s`'"()<>,;@]+))""")
ARGUMENT = re.compile(r"\\\$|\$ARGUMENTS\b|\$\{ARGUMENTS\}|\$([1-9])(?!\d)")
_WORDS = re.compile(r"""(?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*'|["'])+""")


class TemplateError(ValueError):
    """A body that cannot be made into a prompt, and why."""


class TemplatePiece(Struct, frozen=True):
    """Some of the body. `text`: the words, the command, or the path as it is written."""

    kind: Literal["words", "shell", "file"]
    text: str
    written: str = ""
    """As it stands in the body: what stays where a file is not there."""


def pieces_of(body: str) -> list[TemplatePiece]:
    """The body taken apart; what stands in fenced code is words. Raises TemplateError."""
    pieces: list[TemplatePiece] = []
    at = 0
    for fence in _FENCE.finditer(body):
        pieces += _outside_fences(body[at : fence.start()])
        pieces.append(TemplatePiece("words", fence[0]))
        at = fence.end()
    pieces += _outside_fences(body[at:])
    if sum(piece.kind != "words" for piece in pieces) > MAX_PIECES:
        raise TemplateError(f"it puts in more than {MAX_PIECES} files and commands")
    return pieces


def _outside_fences(text: str) -> list[TemplatePiece]:
    found = sorted((*_SHELL.finditer(text), *_FILE.finditer(text)), key=lambda match: match.start())
    pieces: list[TemplatePiece] = []
    at = 0
    for match in found:
        if match.start() < at:
            continue  # an @ inside a command is the command's
        if match.re is _SHELL:
            pieces.append(TemplatePiece("words", text[at : match.start()]))
            pieces.append(TemplatePiece("shell", match["command"].strip(), match[0]))
            at = match.end()
        elif path := match["quoted"] or match["path"].rstrip(".:!?"):
            pieces.append(TemplatePiece("words", text[at : match.start()]))
            at = match.end() - (len(match["path"]) - len(path) if match["path"] else 0)
            pieces.append(TemplatePiece("file", path, text[match.start() : at]))
    pieces.append(TemplatePiece("words", text[at:]))
    return [piece for piece in pieces if piece.text]


def words_only(body: str) -> list[TemplatePiece]:
    """The body as one piece of words, for whoever looks at files and runs commands by themselves."""
    return [TemplatePiece("words", body)]


def takes_arguments(pieces: list[TemplatePiece]) -> bool:
    """Whether it says where they go."""
    return any(found[0] != "\\$" for piece in pieces for found in ARGUMENT.finditer(piece.text))


def with_arguments(text: str, arguments: str) -> str:
    r"""`$ARGUMENTS` and `$1` to `$9` filled in; `\$` stays a dollar sign."""
    words = words_of(arguments)

    def filled(found: re.Match[str]) -> str:
        if found[0] == "\\$":
            return "$"
        if found[1]:
            at = int(found[1]) - 1
            return words[at] if at < len(words) else ""
        return arguments

    return ARGUMENT.sub(filled, text)


def words_of(arguments: str) -> list[str]:
    """Words as a shell would tell them apart, quotes removed; a quote that is never closed is a letter."""

    def plain(word: str) -> str:
        return re.sub(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', lambda m: m[1] if m[1] is not None else m[2], word)

    return [plain(word) for word in _WORDS.findall(arguments)]


def file_at(written: str, *, cwd: str, roots: tuple[str, ...], home: str = "") -> str:
    """The file that is meant, if there is one; a name that leads to none is left as words. Paths count from the
    directory in force, then from the roots of the workspace. Whether it may be read is not decided here."""
    path = os.path.join(home, written[2:]) if home and written.startswith("~/") else written
    bases = (cwd, *roots) if not os.path.isabs(path) else ("",)
    for base in bases:
        full = os.path.normpath(os.path.join(base, path))
        if os.path.isfile(full):
            return full
    return ""


def joined(parts: list[str], arguments: str, *, placed: bool) -> str:
    """The whole prompt; arguments that it has no place for come last."""
    text = "".join(parts).strip()
    if arguments.strip() and not placed:
        text += f"\n\nARGUMENTS: {arguments}"
    return text
