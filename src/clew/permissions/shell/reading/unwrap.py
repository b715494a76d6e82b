"""Commands inside commands: what wrappers, find and substitutions make of the words that they are given."""

import os
from itertools import pairwise
from typing import NamedTuple

from clew.permissions.shell.programs.program import Wrapper
from clew.permissions.shell.programs.table import base_name
from clew.permissions.shell.proof.fed_words import filtered_find, printed_inside
from clew.permissions.shell.reading.lexer import Lexer
from clew.permissions.shell.reading.values import Value, Variables
from clew.permissions.shell.reading.words import Redirect, SimpleCommand
from clew.text.guarded_names import word_set

EXEC_FLAGS = word_set("""-exec -execdir -ok -okdir -x -X --exec --exec-batch""")
MAX_ARGUMENTS = 16
_MAX_FOUND = 8


class Effective(NamedTuple):
    """One command as it would take effect. `cwd` is None where the directory cannot be known."""

    argv: list[Value]
    cwd: str | None
    redirects: tuple[tuple[Redirect, tuple[Value, ...]], ...] = ()
    fed: str = ""
    """What it gets to read, as far as the text tells."""
    walks: bool = False
    """Its words stand for everything below them: a search hands them on one by one."""

    @property
    def name(self) -> str:
        return base_name(self.argv[0].text) if self.argv and self.argv[0].known else ""


def found_commands(found: Effective) -> tuple[list[Effective], bool]:
    """Each -exec of one find or fd with the places it begins in; false where there are too many to be read."""
    argv = found.argv
    first = next((index for index, value in enumerate(argv) if value.text in EXEC_FLAGS), 0)
    if not first:
        return [], True
    roots = [value for value in argv[1:first] if not value.text.startswith(("-", "(", "!"))][:4]
    if not roots and found.cwd is not None:
        roots = [Value(found.cwd)]
    narrowed = filtered_find(argv[1:first])
    if narrowed:
        # Only something below the roots is meant, so the roots themselves are not at stake.
        roots = [value._replace(text=f"{value.text}/x") for value in roots if value.text.startswith("/")]
    out: list[Effective] = []
    at = first
    while at < len(argv):
        if argv[at].text not in EXEC_FLAGS:
            at += 1
            continue
        end = next((index for index in range(at, len(argv)) if argv[index].text in (";", "+")), len(argv))
        body = argv[at + 1 : end]
        if found.name != "find" and not any("{" in value.text for value in body):
            body = [*body, Value("{}")]
        # The search itself descends, so the inner program need not be recursive to reach the whole tree.
        filled = [one for value in body for one in _filled(value, roots)]
        out.append(Effective(filled, found.cwd, walks=bool(roots) and not narrowed))
        if len(out) > _MAX_FOUND:
            # Many of them only say again what the first ones said; the rest is not read, and so not allowed.
            return [one for one in out if one.argv], False
        at = end + 1
    return [one for one in out if one.argv], True


def inner_command(row: Wrapper, argv: list[Value]) -> list[Value]:
    """The command that a wrapper would run, or nothing."""
    at = 1
    while at < len(argv):
        text = argv[at].text
        if text == "--":
            at += 1
            break
        if text.startswith("-"):
            at += 2 if text in row.valued or _ends_valued(text, row.valued) else 1
            continue
        if row.assigns and "=" in text and not text.startswith("="):
            at += 1
            continue
        break
    return argv[at + row.operands :]


def printed_words(
    argv: list[Value], command: SimpleCommand, lexer: Lexer, variables: Variables, cwd: str | None
) -> list[list[Value]]:
    """The words once more, with what its substitutions would print where that can be told."""
    if not lexer.substitutions or all(value.known for value in argv):
        return []
    printed = printed_inside(command, lexer, variables, cwd).split()[:MAX_ARGUMENTS]
    if not printed:
        return []
    rest = [Value(text) for text in printed[1:]]
    before = [[value] if value.known else [Value(printed[0] + value.text), *rest] for value in argv]
    behind = [[value] if value.known else [Value(value.text + printed[0]), *rest] for value in argv]
    return [[value for words in one for value in words] for one in (before, behind)]


def directory_of(row: Wrapper, flags: list[Value], cwd: str | None) -> str | None:
    """The directory in which the inner command of a wrapper runs."""
    for before, value in pairwise(flags):
        name, attached, text = before.text.partition("=")
        if name in row.chdir:
            return directory_after([Value("cd"), before._replace(text=text) if attached else value], cwd, "")
    if flags and (last := flags[-1].text.partition("="))[1] and last[0] in row.chdir:
        return directory_after([Value("cd"), flags[-1]._replace(text=last[2])], cwd, "")
    return cwd


def _ends_valued(text: str, valued: frozenset[str]) -> bool:
    """A cluster of short flags whose last one takes the next word."""
    if len(text) < 3 or text.startswith("--") or not text[1:].isalpha():
        return False
    return f"-{text[-1]}" in valued and not any(f"-{letter}" in valued for letter in text[1:-1])


def _filled(value: Value, roots: list[Value]) -> list[Value]:
    """What find puts in place of `{}`, also inside a longer word."""
    if not roots or "{}" not in value.text:
        return [value]
    return [value._replace(text=value.text.replace("{}", root.text), globs=root.globs) for root in roots]


def directory_after(argv: list[Value], cwd: str | None, home: str) -> str | None:
    """Where a `cd` with these words leads; None where that cannot be known."""
    targets = [value for value in argv[1:] if not (value.text.startswith("-") and value.text != "-")]
    if not targets:
        return home if argv[0].text == "cd" else None
    target = targets[0]
    if not target.known or target.globs or target.text == "-" or argv[0].text == "popd":
        return None
    if target.text.startswith("/"):
        return os.path.normpath(target.text)
    return os.path.normpath(os.path.join(cwd, target.text)) if cwd is not None else None
