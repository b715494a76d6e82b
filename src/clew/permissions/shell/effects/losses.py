"""What a text would destroy, by the rows of its programs: history, whole directories, and which files are at stake.

Like the scan it over-estimates. Whether what is at stake could be brought back is not known here: the judge is told.
"""

import os
from typing import NamedTuple

from clew.permissions.effort import look
from clew.permissions.files import Places
from clew.permissions.paths import beneath, real
from clew.permissions.shell.programs.program import Loss, Program
from clew.permissions.shell.programs.spec import Spec
from clew.permissions.shell.programs.table import after_git_options, base_name, program
from clew.permissions.shell.reading.glob import GLOB, matching_names
from clew.permissions.shell.reading.scan import Scan
from clew.permissions.shell.reading.unwrap import Effective
from clew.permissions.shell.reading.values import Value
from clew.text.guarded_names import word_set

_OUT = word_set("""> >> >| &> &>> <>""")
_MAX_PATHS = 100
_MAX_MATCHES = 64
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "-"})


class Losses(NamedTuple):
    """What a person should know before it happens."""

    history: str = ""
    trees: str = ""
    paths: tuple[str, ...] = ()
    """Existing files and directories whose state would be gone; a directory stands for all below it."""


def losses_of(scan: Scan, places: Places) -> Losses:
    """Everything the commands of a text would destroy."""
    history = trees = ""
    stake = _Stake(places)
    for found in scan.effective:
        if not found.argv and not found.redirects:
            continue
        row = program(found.name)
        words = found.argv[1:]
        if row.sub_loses:
            rest = after_git_options([value.text for value in words])
            moved = any(value.text.startswith("-C") for value in words[: len(words) - len(rest)])
            words = words[len(words) - len(rest) + 1 :] if rest else []
            rows = row.sub_loses.get(rest[0], ()) if rest else ()
            spec, label = row.tails.get(rest[0] if rest else ""), f"{found.name} {rest[0] if rest else ''} "
            cwd = None if moved else found.cwd
        else:
            rows, spec, label, cwd = row.loses, row.changes, "", found.cwd
        flags, operands, unsure = _sorted(words, spec)
        for loss in (loss for loss in rows if _counts(loss, flags, operands, unsure=unsure)):
            match loss.kind:
                case "history":
                    history = history or f"{label}{loss.why}"
                case "trees":
                    trees = trees or loss.why
                    stake.trees(_searched(found) if row.feeds else operands, cwd)
                case "files":
                    stake.add(operands, cwd)
        trees = trees or _fed(found, row, stake)
        _changed(found, row, operands, flags, stake)
    return Losses(history, trees, stake.paths())


def _sorted(words: list[Value], spec: Spec | None) -> tuple[list[str], list[Value], bool]:
    """Flags (clusters taken apart), operands, and whether a word is unknown that may be either."""
    valued = {token.rstrip(":=@") for token in spec.flags.split() if token[-1] in ":=@"} if spec else set[str]()
    flags: list[str] = []
    operands: list[Value] = []
    unsure = False
    at = 0
    while at < len(words):
        value = words[at]
        at += 1
        text = value.text
        unsure = unsure or (not value.known and not text)
        if text == "--":
            operands += words[at:]
            break
        if not text.startswith("-") or text == "-":
            operands.append(value)
        elif text.startswith("--"):
            flags.append(text.partition("=")[0])
            at += "=" not in text and text in valued
        else:
            flags.append(text)
            for index, letter in enumerate(text[1:], 1):
                flags.append(f"-{letter}")
                if f"-{letter}" in valued:
                    at += index == len(text) - 1
                    break
    return flags, operands, unsure


def _counts(loss: Loss, flags: list[str], operands: list[Value], *, unsure: bool) -> bool:
    if loss.unless and any(flag in loss.unless for flag in flags):
        return False
    if not loss.words and not loss.starts:
        return True
    if unsure or any(value.text in loss.words or value.text.startswith(loss.starts or "\0") for value in operands):
        return True
    return any(_means(flag, word) for flag in flags for word in loss.words)


def _means(flag: str, word: str) -> bool:
    """A long flag may be cut short."""
    return flag == word or (len(flag) > 3 and flag.startswith("--") and word.startswith(flag))


def _fed(found: Effective, row: Program, stake: "_Stake") -> str:
    """A program that hands on names which stand nowhere, to one that removes what it is given."""
    if not row.feeds:
        return ""
    inner = (program(base_name(value.text)).writes for value in found.argv[1:])
    if "remove" not in inner:
        return ""
    stake.trees(_searched(found), found.cwd)
    return "this deletes whatever it is given"


def _searched(found: Effective) -> list[Value]:
    """The directories that find begins in; other programs are fed from anywhere."""
    if found.name != "find":
        return []
    words = found.argv[1:]
    end = next((at for at, value in enumerate(words) if value.text.startswith(("-", "(", "!"))), len(words))
    return words[:end]


def _changed(found: Effective, row: Program, operands: list[Value], flags: list[str], stake: "_Stake") -> None:
    """The files that redirections and the program's own row say are changed."""
    for redirect, values in found.redirects:
        if redirect.op in _OUT:
            stake.add(list(values), found.cwd)
    match row.writes:
        case "remove":
            stake.add(operands, found.cwd, follow=False)
        case "each":
            stake.add(operands, found.cwd)
        case "after first":
            stake.add(operands[1:], found.cwd)
        case "copy" | "move" | "link":
            stake.destination(operands, flags, found.argv, found.cwd, moves=row.writes == "move")
        case "script files" if any(flag.startswith(("-i", "--in-place")) for flag in flags):
            scripted = any(flag in ("-e", "-f", "--expression", "--file") for flag in flags)
            stake.add(operands if scripted else operands[1:], found.cwd)
        case "of=":
            outputs = [value for value in operands if value.text.startswith("of=")]
            stake.add([value._replace(text=value.text[3:]) for value in outputs], found.cwd)
        case _:
            pass


class _Stake:
    """Collects existing paths; where it cannot be told which, everything inside is at stake."""

    def __init__(self, places: Places) -> None:
        self._roots = places.roots
        self._found: dict[str, None] = {}
        self._anywhere = False

    def paths(self) -> tuple[str, ...]:
        if self._anywhere or len(self._found) > _MAX_PATHS:
            outside = [path for path in self._found if not any(beneath(path, root) for root in self._roots)]
            return (*self._roots, *outside[:_MAX_PATHS])
        return tuple(self._found)

    def add(self, values: list[Value], cwd: str | None, *, follow: bool = True) -> None:
        """`follow`: the program writes to the end of a link, not to the link."""
        for value in values:
            if value.text in _NOWHERE:
                continue
            if not value.known or cwd is None or len(value.text) > 4096 or "\0" in value.text:
                self._anywhere = True
                continue
            for path in _paths(value, cwd):
                look()
                path = real(path) if follow else path
                if os.path.lexists(path):
                    self._found[path] = None
                if os.path.lexists(f"{path}/.git"):
                    self._found[f"{path}/.git"] = None

    def trees(self, values: list[Value], cwd: str | None) -> None:
        """Below these, or below the directory in force: `git clean` and `find` need not name one."""
        if values:
            self.add(values, cwd, follow=False)
        elif cwd is None:
            self._anywhere = True
        else:
            self._found[cwd] = None

    def destination(
        self, operands: list[Value], flags: list[str], argv: list[Value], cwd: str | None, *, moves: bool
    ) -> None:
        into = [
            argv[at + 1] if value.text in ("-t", "--target-directory") else value._replace(text=value.text[19:])
            for at, value in enumerate(argv[:-1])
            if value.text in ("-t", "--target-directory") or value.text.startswith("--target-directory=")
        ]
        sources, targets = (operands, into) if into else (operands[:-1], operands[-1:])
        for target in targets:
            folder = cwd is not None and target.known and os.path.isdir(os.path.join(cwd, target.text))
            inner = [
                target._replace(text=f"{target.text.rstrip('/')}/{os.path.basename(source.text.rstrip('/'))}")
                for source in sources
            ]
            self.add(inner if folder else [target], cwd)
        if moves:
            self.add(sources, cwd, follow=False)


def _paths(value: Value, cwd: str) -> list[str]:
    """What a word names; a pattern that takes too much stands for the directory it begins in."""
    path = os.path.normpath(os.path.join(cwd, value.text))
    if not value.globs:
        return [path]
    fronts = ["/"]
    parts = path.split("/")[1:]
    for at, part in enumerate(parts):
        if not GLOB.search(part):
            fronts = [os.path.join(front, part) for front in fronts]
            continue
        found = [os.path.join(front, name) for front in fronts for name in matching_names(front, part)]
        if len(found) > _MAX_MATCHES:
            return ["/" + "/".join(parts[:at])]
        fronts = found
    return fronts
