"""What a command does to the places that its words name, by its program's row: deletes, moves, remodes, overwrites.

It over-estimates, like the scan: a word that may be a place counts as one.
"""

from typing import NamedTuple

from clew.permissions.shell.programs.program import Effect, Program, Reach, reach
from clew.permissions.shell.programs.spec import Spec
from clew.permissions.shell.programs.table import after_git_options, program
from clew.permissions.shell.proof.fed_words import filtered_find
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import word_set

WRITES = word_set("> >> >| &> &>> >& <>")
_TARGET = frozenset({"-t", "--target-directory"})
_BY_WRITES: dict[str, tuple[Reach, ...]] = {
    "remove": (reach("deletes", deep="-r -R --recursive"),),
    "after first": (reach("remodes", deep="-R --recursive"),),
    "move": (
        reach("moves", "sources"),
        reach("overwrites", "target"),
        reach("deletes", "target", needs="-T --no-target-directory"),
    ),
    "copy": (reach("overwrites", "target"),),
    "link": (
        reach("overwrites", "target"),
        reach("deletes", "target", needs="-T --no-target-directory -n --no-dereference"),
    ),
    "each": (reach("overwrites"),),
    "script files": (reach("overwrites", needs="-i --in-place"),),
    "of=": (reach("overwrites", "of="),),
}


class PlaceEffect(NamedTuple):
    """One place and what happens to it. `deep`: to everything below it as well."""

    effect: Effect
    value: Value
    cwd: str | None
    deep: bool
    raw: bool = False


class Split(NamedTuple):
    """The words behind a program's name, sorted."""

    flags: list[str]
    """Long flags without their values; short ones as written and letter by letter."""
    operands: list[Value]
    values: dict[str, list[Value]]
    """What follows a flag or is attached to it, whether or not the flag takes a value."""

    def has(self, wanted: frozenset[str]) -> bool:
        """One of these is there, a long flag also cut short."""
        if any(value.text in wanted for value in self.operands):
            return True
        return any(
            flag in wanted
            or (len(flag) > 3 and flag.startswith("--") and any(word.startswith(flag) for word in wanted))
            for flag in self.flags
        )


def split_words(words: list[Value], spec: Spec | None) -> Split:
    """Take flags and operands apart; values that the row knows of are no operands."""
    valued = {token.rstrip(":=@") for token in spec.flags.split() if token[-1] in ":=@"} if spec else set[str]()
    found = Split([], [], {})
    at = 0
    while at < len(words):
        value = words[at]
        text = value.text
        at += 1
        if text == "--":
            found.operands.extend(words[at:])
            break
        if len(text) < 2 or not text.startswith("-"):
            found.operands.append(value)
            continue
        following = words[at] if at < len(words) else None
        if text.startswith("--"):
            name, attached, rest = text.partition("=")
            found.flags.append(name)
            if attached:
                found.values.setdefault(name, []).append(value._replace(text=rest))
            elif following is not None:
                found.values.setdefault(name, []).append(following)
                at += name in valued
            continue
        at += _short(value, following, valued, found)
    return found


def _short(value: Value, following: Value | None, valued: set[str], found: Split) -> int:
    """A cluster of short flags; 1 where its last one takes the next word."""
    text = value.text
    found.flags.append(text)
    for index, letter in enumerate(text[1:], 1):
        flag, rest = f"-{letter}", text[index + 1 :]
        found.flags.append(flag)
        if rest:
            found.values.setdefault(flag, []).append(value._replace(text=rest))
        elif following is not None:
            found.values.setdefault(flag, []).append(following)
        if flag in valued:
            return 0 if rest else 1
    return 0


def effects_of(found: Effective) -> list[PlaceEffect]:
    """Everything that this one command does to places, redirections included."""
    out = [
        PlaceEffect("overwrites", value, found.cwd, deep=False)
        for redirect, values in found.redirects
        if redirect.op in WRITES and not (redirect.op == ">&" and values and values[0].text.isdigit())
        for value in values
    ]
    if not found.argv:
        return out
    row = program(found.name)
    words = found.argv[1:]
    if found.name == "find":
        return out + _find(found)
    if row.sub_reaches:
        return out + _by_subcommand(found, row)
    rows = row.reaches or _BY_WRITES.get(row.writes or "", ())
    if rows:
        sorted_words = split_words(words, row.changes or row.reads)
        out += _reached(rows, sorted_words, found.cwd, row, walks=found.walks)
    return out


def _find(found: Effective) -> list[PlaceEffect]:
    """`-delete` takes everything below the places where the search begins, unless it is narrowed."""
    words = found.argv[1:]
    if not any(value.text == "-delete" for value in words) or filtered_find(words):
        return []
    while words and words[0].text in ("-H", "-L", "-P", "-O1", "-O2", "-O3"):
        words = words[1:]
    end = next((at for at, value in enumerate(words) if value.text.startswith(("-", "(", "!"))), len(words))
    starts = words[:end] or [Value(".")]
    return [PlaceEffect("deletes", value, found.cwd, deep=True) for value in starts]


def _by_subcommand(found: Effective, row: Program) -> list[PlaceEffect]:
    words = found.argv[1:]
    rest = after_git_options([value.text for value in words])
    if not rest or rest[0] not in row.sub_reaches:
        return []
    before = split_words(words[: len(words) - len(rest)], Spec("-C: --work-tree= -c: --git-dir="))
    cwds: list[str | None] = [found.cwd]
    for flag in row.folder_flags:
        for value in before.values.get(flag, ()):
            joined = value.text if value.text.startswith("/") else f"{found.cwd}/{value.text}" if found.cwd else None
            cwds = [joined if value.known else None]
    spec = row.tails.get(rest[0])
    inner = split_words(words[len(words) - len(rest) + 1 :], spec)
    return [one for cwd in cwds for one in _reached(row.sub_reaches[rest[0]], inner, cwd, row, walks=found.walks)]


def _reached(rows: tuple[Reach, ...], words: Split, cwd: str | None, row: Program, *, walks: bool) -> list[PlaceEffect]:
    out: list[PlaceEffect] = []
    for one in rows:
        if (one.needs and not words.has(one.needs)) or (one.unless and words.has(one.unless)):
            continue
        if one.only and words.flags and all(flag in one.only or _only_letters(flag, one.only) for flag in words.flags):
            continue
        deep = walks or "*" in one.deep or (bool(one.deep) and words.has(one.deep))
        named = [*_named(one, words, row), *(value for flag in one.values for value in words.values.get(flag, ()))]
        out += [PlaceEffect(one.effect, value, cwd, deep, row.raw) for value in named]
    return out


def _only_letters(flag: str, only: frozenset[str]) -> bool:
    return not flag.startswith("--") and len(flag) > 2 and all(f"-{letter}" in only for letter in flag[1:])


def _named(one: Reach, words: Split, row: Program) -> list[Value]:
    operands = words.operands
    into = [value for flag in _TARGET for value in words.values.get(flag, ())] if row.writes in (
        "copy", "move", "link",
    ) else []  # fmt: skip
    match one.on:
        case "operands":
            return operands
        case "sources":
            return operands if into else operands[:-1]
        case "target" | "last":
            return into or operands[-1:]
        case "second":
            return operands[1:2]
        case "after first":
            return operands[1:]
        case "of=":
            return [value._replace(text=value.text[3:]) for value in operands if value.text.startswith("of=")]
        case "here":
            return operands or [Value(".")]
        case "values":
            return []
