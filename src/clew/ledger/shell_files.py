"""What a shell command does to files that it names: written, edited in place, given another name, removed."""

import posixpath
import re
import shlex
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

_MOST = 10
_MAX_CHARS = 6000
_BETWEEN = ";&|()\n"
_BODY = re.compile(r"(<<-?\s*(['\"]?)(\w+)\2[^\n]*)\n(.*?)^\s*\3[ \t]*$", re.DOTALL | re.MULTILINE)
_BEFORE = re.compile(r"sudo|command|env|\w+=.*")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-place")
_REMOVING = ("rm", "del", "Remove-Item")


class WrittenFile(NamedTuple):
    """A file that a command writes: where, how many lines are known, whether it is a new one as far as can be seen."""

    path: str
    lines: int
    whole: bool


def simple_commands(command: str) -> Iterator[list[str]]:
    """The words of each command of a line, redirections as words of their own and texts that are written out left
    aside; nothing where the quotes do not close."""
    bare = _BODY.sub(r"\1", command.replace("\\\n", " "))
    lexer = shlex.shlex(bare[:_MAX_CHARS], posix=True, punctuation_chars=_BETWEEN + "<>")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        words = list(lexer)
    except ValueError:
        return
    for between, part in groupby(words, key=lambda word: not set(word) - set(_BETWEEN)):
        if not between:
            found = list(part)
            while len(found) > 1 and _BEFORE.fullmatch(found[0]):
                del found[0]
            yield found


def written_files(command: str) -> list[WrittenFile]:
    """Files that output goes to, or that are edited in place."""
    bodies = [body[4].count("\n") for body in _BODY.finditer(command)]
    found: list[WrittenFile] = []
    for words in simple_commands(command):
        lines = bodies.pop(0) if bodies and any(word.startswith("<<") for word in words) else 0
        for before, arrow, path in zip(["", *words], words, words[1:], strict=False):
            if arrow in (">", ">>") and not (before.isdigit() and f"{before}{arrow}" in command):
                found.append(WrittenFile(path, lines, arrow == ">"))
        if words[0] == "tee":
            found += [WrittenFile(path, lines, "-a" not in words) for path in _arguments(words)]
        elif words[0] == "sed" and any(map(_IN_PLACE.match, words)):
            scripts = [after for word, after in pairwise(words) if word in ("-e", "-f")] or _arguments(words)[:1]
            found += [WrittenFile(path, 0, False) for path in _arguments(words) if path not in scripts]
    return [file for file in found if is_plain_path(file.path) and not file.path.startswith(("/dev/", "/tmp/"))][:_MOST]


def removed_files(command: str) -> list[tuple[str, bool]]:
    """Files that a plain `rm` or `git rm` names, and whether they were there for sure: `rm -f` says nothing of one that
    was not. Patterns and directories by recursion are not facts about files."""
    found: list[tuple[str, bool]] = []
    for words in simple_commands(command):
        by_git = words[:2] == ["git", "rm"]
        plain = words[1:] if by_git else words
        flags = [word for word in plain if word.startswith("-")]
        is_recursive = any("r" in flag.lower().lstrip("-")[:3] for flag in flags if flag != "--force")
        sure = by_git or not any(flag in ("--force", "-Force") or "f" in flag[1:3] for flag in flags)
        if plain[0] in _REMOVING and not is_recursive and "--cached" not in flags:
            named = [path for path in _arguments(plain) if is_plain_path(path) and not path.startswith("/tmp")]
            found += [(path, sure) for path in named]
    return found[:_MOST]


def moved_files(command: str) -> list[tuple[str, str]]:
    """Files that a plain `mv` or `git mv` gives another name; what goes into a folder keeps its own."""
    found: list[tuple[str, str]] = []
    for words in simple_commands(command):
        plain = words[1:] if words[:2] == ["git", "mv"] else words
        named = _arguments(plain)
        if plain[0] != "mv" or len(named) != 2 or not all(map(is_plain_path, named)):
            continue
        old, new = named[0], named[1].removeprefix("./")
        if new.endswith("/"):
            found.append((old, new + posixpath.basename(old)))
        elif "." in posixpath.basename(new):
            found.append((old, new))
    return found[:_MOST]


def is_plain_path(path: str) -> bool:
    """A path as it is on disk, with nothing for the shell to fill in."""
    return bool(path) and not any(char in path for char in "$*?`{}()[]~!<>&|")


def _arguments(words: list[str]) -> list[str]:
    """What a command is given besides options, up to a redirection."""
    end = next((at for at, word in enumerate(words) if word[0] in "<>&" or word[:2] in ("1>", "2>")), len(words))
    if end < len(words) and words[end - 1].isdigit():
        end -= 1
    return [word for word in words[1:end] if word and not word.startswith("-")]
